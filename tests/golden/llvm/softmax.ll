declare <8 x float> @llvm.vector.extract.v8f32.v16f32(<16 x float>, i64)
declare <4 x float> @llvm.vector.extract.v4f32.v8f32(<8 x float>, i64)
declare <2 x float> @llvm.vector.extract.v2f32.v4f32(<4 x float>, i64)
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
declare <16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float>, <16 x i32>)
declare <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(<16 x float>, <16 x float>, <16 x float>, i16, i32)
declare float @llvm.fabs.f32(float)
define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %scratch) #0 {
entry:
  %t1 = load <16 x float>, ptr %arg0, align 4
  %t2 = fcmp ogt <16 x float> splat (float 0xFFF0000000000000), %t1
  %t3 = select <16 x i1> %t2, <16 x float> splat (float 0xFFF0000000000000), <16 x float> %t1
  %t4 = call <8 x float> @llvm.vector.extract.v8f32.v16f32(<16 x float> %t3, i64 0)
  %t5 = call <8 x float> @llvm.vector.extract.v8f32.v16f32(<16 x float> %t3, i64 8)
  %t6 = fcmp ogt <8 x float> %t4, %t5
  %t7 = select <8 x i1> %t6, <8 x float> %t4, <8 x float> %t5
  %t8 = fcmp uno <8 x float> %t4, %t4
  %t9 = select <8 x i1> %t8, <8 x float> %t4, <8 x float> %t7
  %t10 = call <4 x float> @llvm.vector.extract.v4f32.v8f32(<8 x float> %t9, i64 0)
  %t11 = call <4 x float> @llvm.vector.extract.v4f32.v8f32(<8 x float> %t9, i64 4)
  %t12 = fcmp ogt <4 x float> %t10, %t11
  %t13 = select <4 x i1> %t12, <4 x float> %t10, <4 x float> %t11
  %t14 = fcmp uno <4 x float> %t10, %t10
  %t15 = select <4 x i1> %t14, <4 x float> %t10, <4 x float> %t13
  %t16 = call <2 x float> @llvm.vector.extract.v2f32.v4f32(<4 x float> %t15, i64 0)
  %t17 = call <2 x float> @llvm.vector.extract.v2f32.v4f32(<4 x float> %t15, i64 2)
  %t18 = fcmp ogt <2 x float> %t16, %t17
  %t19 = select <2 x i1> %t18, <2 x float> %t16, <2 x float> %t17
  %t20 = fcmp uno <2 x float> %t16, %t16
  %t21 = select <2 x i1> %t20, <2 x float> %t16, <2 x float> %t19
  %t22 = extractelement <2 x float> %t21, i64 0
  %t23 = extractelement <2 x float> %t21, i64 1
  %t24 = fcmp ogt float %t22, %t23
  %t25 = select i1 %t24, float %t22, float %t23
  %t26 = fcmp uno float %t22, %t22
  %t27 = select i1 %t26, float %t22, float %t25
  %t28 = fcmp ogt float 0xFFF0000000000000, %t27
  %t29 = select i1 %t28, float 0xFFF0000000000000, float %t27
  %t30 = insertelement <16 x float> poison, float %t29, i64 0
  %t31 = shufflevector <16 x float> %t30, <16 x float> poison, <16 x i32> zeroinitializer
  %t32 = fsub <16 x float> %t1, %t31
  %t33 = fcmp olt <16 x float> %t32, splat (float 0xC05A000000000000)
  %t34 = select <16 x i1> %t33, <16 x float> splat (float 0xC05A000000000000), <16 x float> %t32
  %t35 = fcmp ogt <16 x float> %t34, splat (float 0x4056400000000000)
  %t36 = select <16 x i1> %t35, <16 x float> splat (float 0x4056400000000000), <16 x float> %t34
  %t37 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t36, <16 x float> splat (float 0x3FF7154760000000), <16 x float> splat (float 0x4128000000000000))
  %t38 = fsub <16 x float> %t37, splat (float 0x4128000000000000)
  %t39 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t38, <16 x float> splat (float 0xBFE62E4000000000), <16 x float> %t36)
  %t40 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t38, <16 x float> splat (float 0xBEB7F7D1C0000000), <16 x float> %t39)
  %t41 = bitcast <16 x float> %t37 to <16 x i32>
  %t42 = call <16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float> <float 0x3FF0000000000000, float 0x3FF0B55860000000, float 0x3FF172B840000000, float 0x3FF2387A60000000, float 0x3FF306FE00000000, float 0x3FF3DEA640000000, float 0x3FF4BFDAE0000000, float 0x3FF5AB07E0000000, float 0x3FF6A09E60000000, float 0x3FF7A11480000000, float 0x3FF8ACE540000000, float 0x3FF9C49180000000, float 0x3FFAE89FA0000000, float 0x3FFC199BE0000000, float 0x3FFD5818E0000000, float 0x3FFEA4AFA0000000>, <16 x i32> %t41)
  %t43 = call <16 x float> @llvm.fma.v16f32(<16 x float> splat (float 0x3FC55559C0000000), <16 x float> %t40, <16 x float> splat (float 0x3FE0002200000000))
  %t44 = fmul <16 x float> %t40, %t40
  %t45 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t43, <16 x float> %t44, <16 x float> %t40)
  %t46 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t42, <16 x float> %t45, <16 x float> %t42)
  %t47 = call <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(<16 x float> %t46, <16 x float> %t38, <16 x float> %t46, i16 -1, i32 4)
  %t48 = fadd <16 x float> splat (float 0x0000000000000000), %t47
  %t49 = call <8 x float> @llvm.vector.extract.v8f32.v16f32(<16 x float> %t48, i64 0)
  %t50 = call <8 x float> @llvm.vector.extract.v8f32.v16f32(<16 x float> %t48, i64 8)
  %t51 = fadd <8 x float> %t49, %t50
  %t52 = call <4 x float> @llvm.vector.extract.v4f32.v8f32(<8 x float> %t51, i64 0)
  %t53 = call <4 x float> @llvm.vector.extract.v4f32.v8f32(<8 x float> %t51, i64 4)
  %t54 = fadd <4 x float> %t52, %t53
  %t55 = call <2 x float> @llvm.vector.extract.v2f32.v4f32(<4 x float> %t54, i64 0)
  %t56 = call <2 x float> @llvm.vector.extract.v2f32.v4f32(<4 x float> %t54, i64 2)
  %t57 = fadd <2 x float> %t55, %t56
  %t58 = extractelement <2 x float> %t57, i64 0
  %t59 = extractelement <2 x float> %t57, i64 1
  %t60 = fadd float %t58, %t59
  %t61 = fadd float 0x0000000000000000, %t60
  %t62 = call float @llvm.fabs.f32(float %t61)
  %t63 = fcmp ogt float %t62, 0x43F0000000000000
  %t64 = select i1 %t63, float 0x3BF0000000000000, float 0x3FF0000000000000
  %t65 = fmul float %t61, %t64
  %t66 = fdiv float 0x3FF0000000000000, %t65
  %t67 = insertelement <16 x float> poison, float %t64, i64 0
  %t68 = shufflevector <16 x float> %t67, <16 x float> poison, <16 x i32> zeroinitializer
  %t69 = fmul <16 x float> %t47, %t68
  %t70 = insertelement <16 x float> poison, float %t66, i64 0
  %t71 = shufflevector <16 x float> %t70, <16 x float> poison, <16 x i32> zeroinitializer
  %t72 = fmul <16 x float> %t69, %t71
  store <16 x float> %t72, ptr %arg1, align 4
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

attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
