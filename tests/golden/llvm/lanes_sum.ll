declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, <8 x i1>, <8 x float>)
declare <4 x float> @llvm.vector.extract.v4f32.v8f32(<8 x float>, i64)
declare <2 x float> @llvm.vector.extract.v2f32.v4f32(<4 x float>, i64)
define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %scratch) #0 {
entry:
  br label %loop1
loop1:
  %i2 = phi i64 [ 0, %entry ], [ %t31, %loop1 ]
  %s3 = phi i64 [ 0, %entry ], [ %s3.next, %loop1 ]
  %s3.next = add nsw i64 %s3, 148
  %t4 = getelementptr i8, ptr %arg0, i64 %s3
  %t5 = load <8 x float>, ptr %t4, align 4
  %t6 = fadd <8 x float> splat (float 0x0000000000000000), %t5
  %t7 = getelementptr i8, ptr %t4, i64 32
  %t8 = load <8 x float>, ptr %t7, align 4
  %t9 = fadd <8 x float> %t6, %t8
  %t10 = getelementptr i8, ptr %t4, i64 64
  %t11 = load <8 x float>, ptr %t10, align 4
  %t12 = fadd <8 x float> %t9, %t11
  %t13 = getelementptr i8, ptr %t4, i64 96
  %t14 = load <8 x float>, ptr %t13, align 4
  %t15 = fadd <8 x float> %t12, %t14
  %t16 = getelementptr i8, ptr %t4, i64 128
  %t17 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 4 %t16, <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <8 x float> zeroinitializer)
  %t18 = fadd <8 x float> %t15, %t17
  %t19 = select <8 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <8 x float> %t18, <8 x float> %t15
  %t20 = call <4 x float> @llvm.vector.extract.v4f32.v8f32(<8 x float> %t19, i64 0)
  %t21 = call <4 x float> @llvm.vector.extract.v4f32.v8f32(<8 x float> %t19, i64 4)
  %t22 = fadd <4 x float> %t20, %t21
  %t23 = call <2 x float> @llvm.vector.extract.v2f32.v4f32(<4 x float> %t22, i64 0)
  %t24 = call <2 x float> @llvm.vector.extract.v2f32.v4f32(<4 x float> %t22, i64 2)
  %t25 = fadd <2 x float> %t23, %t24
  %t26 = extractelement <2 x float> %t25, i64 0
  %t27 = extractelement <2 x float> %t25, i64 1
  %t28 = fadd float %t26, %t27
  %t29 = fadd float 0x0000000000000000, %t28
  %t30 = getelementptr i32, ptr %arg1, i64 %i2
  store float %t29, ptr %t30, align 4
  %t31 = add nuw nsw i64 %i2, 1
  %t32 = icmp ult i64 %t31, 3
  br i1 %t32, label %loop1, label %done33
done33:
  ret void
}

define void @ENTRY(ptr %buffers, ptr %params, ptr %scratch) #0 {
entry:
  %t1 = load ptr, ptr %buffers, align 8
  %t2 = getelementptr i8, ptr %buffers, i64 8
  %t3 = load ptr, ptr %t2, align 8
  call void @main(ptr %t1, ptr %t3, ptr %scratch)
  ret void
}

attributes #0 = { nounwind }
