define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %scratch) #0 {
entry:
  %t1 = load <4 x float>, ptr %arg0, align 4
  %t2 = fmul <4 x float> %t1, splat (float 0x4000000000000000)
  %t3 = load <4 x float>, ptr %arg1, align 4
  %t4 = fadd <4 x float> %t2, %t3
  %t5 = fcmp ogt <4 x float> splat (float 0x0000000000000000), %t4
  %t6 = select <4 x i1> %t5, <4 x float> splat (float 0x0000000000000000), <4 x float> %t4
  store <4 x float> %t6, ptr %arg2, align 4
  %t7 = getelementptr i8, ptr %arg0, i64 16
  %t8 = load <4 x float>, ptr %t7, align 4
  %t9 = fmul <4 x float> %t8, splat (float 0x4000000000000000)
  %t10 = getelementptr i8, ptr %arg1, i64 16
  %t11 = load <4 x float>, ptr %t10, align 4
  %t12 = fadd <4 x float> %t9, %t11
  %t13 = fcmp ogt <4 x float> splat (float 0x0000000000000000), %t12
  %t14 = select <4 x i1> %t13, <4 x float> splat (float 0x0000000000000000), <4 x float> %t12
  %t15 = getelementptr i8, ptr %arg2, i64 16
  store <4 x float> %t14, ptr %t15, align 4
  %t16 = getelementptr i8, ptr %arg0, i64 32
  %t17 = load <4 x float>, ptr %t16, align 4
  %t18 = fmul <4 x float> %t17, splat (float 0x4000000000000000)
  %t19 = getelementptr i8, ptr %arg1, i64 32
  %t20 = load <4 x float>, ptr %t19, align 4
  %t21 = fadd <4 x float> %t18, %t20
  %t22 = fcmp ogt <4 x float> splat (float 0x0000000000000000), %t21
  %t23 = select <4 x i1> %t22, <4 x float> splat (float 0x0000000000000000), <4 x float> %t21
  %t24 = getelementptr i8, ptr %arg2, i64 32
  store <4 x float> %t23, ptr %t24, align 4
  %t25 = getelementptr i8, ptr %arg0, i64 48
  %t26 = load <4 x float>, ptr %t25, align 4
  %t27 = fmul <4 x float> %t26, splat (float 0x4000000000000000)
  %t28 = getelementptr i8, ptr %arg1, i64 48
  %t29 = load <4 x float>, ptr %t28, align 4
  %t30 = fadd <4 x float> %t27, %t29
  %t31 = fcmp ogt <4 x float> splat (float 0x0000000000000000), %t30
  %t32 = select <4 x i1> %t31, <4 x float> splat (float 0x0000000000000000), <4 x float> %t30
  %t33 = getelementptr i8, ptr %arg2, i64 48
  store <4 x float> %t32, ptr %t33, align 4
  %t34 = getelementptr i8, ptr %arg0, i64 64
  %t35 = load <4 x float>, ptr %t34, align 4
  %t36 = fmul <4 x float> %t35, splat (float 0x4000000000000000)
  %t37 = getelementptr i8, ptr %arg1, i64 64
  %t38 = load <4 x float>, ptr %t37, align 4
  %t39 = fadd <4 x float> %t36, %t38
  %t40 = fcmp ogt <4 x float> splat (float 0x0000000000000000), %t39
  %t41 = select <4 x i1> %t40, <4 x float> splat (float 0x0000000000000000), <4 x float> %t39
  %t42 = getelementptr i8, ptr %arg2, i64 64
  store <4 x float> %t41, ptr %t42, align 4
  %t43 = getelementptr i8, ptr %arg0, i64 80
  %t44 = getelementptr float, ptr %t43, i64 0
  %t45 = load float, ptr %t44, align 4
  %t46 = insertelement <2 x float> zeroinitializer, float %t45, i64 0
  %t47 = fmul <2 x float> %t46, splat (float 0x4000000000000000)
  %t48 = getelementptr i8, ptr %arg1, i64 80
  %t49 = getelementptr float, ptr %t48, i64 0
  %t50 = load float, ptr %t49, align 4
  %t51 = insertelement <2 x float> zeroinitializer, float %t50, i64 0
  %t52 = fadd <2 x float> %t47, %t51
  %t53 = fcmp ogt <2 x float> splat (float 0x0000000000000000), %t52
  %t54 = select <2 x i1> %t53, <2 x float> splat (float 0x0000000000000000), <2 x float> %t52
  %t55 = getelementptr i8, ptr %arg2, i64 80
  %t56 = getelementptr float, ptr %t55, i64 0
  %t57 = extractelement <2 x float> %t54, i64 0
  store float %t57, ptr %t56, align 4
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

attributes #0 = { nounwind }
