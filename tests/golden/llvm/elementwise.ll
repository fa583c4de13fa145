declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, <8 x i1>)
define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %scratch) #0 {
entry:
  %t1 = load <16 x float>, ptr %arg0, align 4
  %t2 = fmul <16 x float> %t1, splat (float 0x4000000000000000)
  %t3 = load <16 x float>, ptr %arg1, align 4
  %t4 = fadd <16 x float> %t2, %t3
  %t5 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t4
  %t6 = select <16 x i1> %t5, <16 x float> splat (float 0x0000000000000000), <16 x float> %t4
  store <16 x float> %t6, ptr %arg2, align 4
  %t7 = getelementptr i8, ptr %arg0, i64 64
  %t8 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 4 %t7, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <8 x float> zeroinitializer)
  %t9 = fmul <8 x float> %t8, splat (float 0x4000000000000000)
  %t10 = getelementptr i8, ptr %arg1, i64 64
  %t11 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 4 %t10, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <8 x float> zeroinitializer)
  %t12 = fadd <8 x float> %t9, %t11
  %t13 = fcmp ogt <8 x float> splat (float 0x0000000000000000), %t12
  %t14 = select <8 x i1> %t13, <8 x float> splat (float 0x0000000000000000), <8 x float> %t12
  %t15 = getelementptr i8, ptr %arg2, i64 64
  call void @llvm.masked.store.v8f32.p0(<8 x float> %t14, ptr align 4 %t15, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>)
  ret void
}

define void @ENTRY(ptr %buffers, ptr %params, ptr %scratch) #0 {
entry:
  %t1 = load ptr, ptr %buffers, align 8
  %t2 = getelementptr i8, ptr %buffers, i64 8
  %t3 = load ptr, ptr %t2, align 8
  %t4 = getelementptr i8, ptr %buffers, i64 16
  %t5 = load ptr, ptr %t4, align 8
  call void @main(ptr %t1, ptr %t3, ptr %t5, ptr %scratch)
  ret void
}

attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
