declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %scratch) #0 {
entry:
  %t1 = load <16 x float>, ptr %arg0, align 4
  %t2 = load <16 x float>, ptr %arg1, align 4
  %t3 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t1, <16 x float> %t2, <16 x float> splat (float 0x0000000000000000))
  %t4 = getelementptr i8, ptr %arg0, i64 64
  %t5 = load <16 x float>, ptr %t4, align 4
  %t6 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t5, <16 x float> %t2, <16 x float> splat (float 0x0000000000000000))
  %t7 = getelementptr i8, ptr %arg0, i64 128
  %t8 = load <16 x float>, ptr %t7, align 4
  %t9 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t8, <16 x float> %t2, <16 x float> splat (float 0x0000000000000000))
  %t10 = getelementptr i8, ptr %arg0, i64 192
  %t11 = load <16 x float>, ptr %t10, align 4
  %t12 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t11, <16 x float> %t2, <16 x float> splat (float 0x0000000000000000))
  %t13 = getelementptr i8, ptr %arg1, i64 64
  %t14 = load <16 x float>, ptr %t13, align 4
  %t15 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t5, <16 x float> %t14, <16 x float> %t3)
  %t16 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t8, <16 x float> %t14, <16 x float> %t6)
  %t17 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t11, <16 x float> %t14, <16 x float> %t9)
  %t18 = getelementptr i8, ptr %arg0, i64 256
  %t19 = load <16 x float>, ptr %t18, align 4
  %t20 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t19, <16 x float> %t14, <16 x float> %t12)
  store <16 x float> %t15, ptr %arg2, align 4
  %t21 = getelementptr i8, ptr %arg2, i64 64
  store <16 x float> %t16, ptr %t21, align 4
  %t22 = getelementptr i8, ptr %arg2, i64 128
  store <16 x float> %t17, ptr %t22, align 4
  %t23 = getelementptr i8, ptr %arg2, i64 192
  store <16 x float> %t20, ptr %t23, align 4
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
