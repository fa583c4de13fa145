declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %scratch) #0 {
entry:
  br label %loop1
loop1:
  %i2 = phi i64 [ 0, %entry ], [ %t63, %loop1 ]
  %p5 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t21, %loop1 ]
  %p6 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t33, %loop1 ]
  %p7 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t45, %loop1 ]
  %p8 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t57, %loop1 ]
  %p9 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t26, %loop1 ]
  %p10 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t38, %loop1 ]
  %p11 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t50, %loop1 ]
  %p12 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t62, %loop1 ]
  %s13 = phi i64 [ 0, %entry ], [ %s13.next, %loop1 ]
  %s16 = phi i64 [ 0, %entry ], [ %s16.next, %loop1 ]
  %s13.next = add nsw i64 %s13, 16
  %s16.next = add nsw i64 %s16, 256
  %t14 = getelementptr i8, ptr %arg0, i64 %s13
  %t15 = load float, ptr %t14, align 4
  %t17 = getelementptr i8, ptr %arg1, i64 %s16
  %t18 = load <16 x float>, ptr %t17, align 4
  %t19 = insertelement <16 x float> poison, float %t15, i64 0
  %t20 = shufflevector <16 x float> %t19, <16 x float> poison, <16 x i32> zeroinitializer
  %t21 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t20, <16 x float> %t18, <16 x float> %p5)
  %t22 = getelementptr i8, ptr %t14, i64 32
  %t23 = load float, ptr %t22, align 4
  %t24 = insertelement <16 x float> poison, float %t23, i64 0
  %t25 = shufflevector <16 x float> %t24, <16 x float> poison, <16 x i32> zeroinitializer
  %t26 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t25, <16 x float> %t18, <16 x float> %p9)
  %t27 = getelementptr i8, ptr %t14, i64 4
  %t28 = load float, ptr %t27, align 4
  %t29 = getelementptr i8, ptr %t17, i64 64
  %t30 = load <16 x float>, ptr %t29, align 4
  %t31 = insertelement <16 x float> poison, float %t28, i64 0
  %t32 = shufflevector <16 x float> %t31, <16 x float> poison, <16 x i32> zeroinitializer
  %t33 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t32, <16 x float> %t30, <16 x float> %p6)
  %t34 = getelementptr i8, ptr %t14, i64 36
  %t35 = load float, ptr %t34, align 4
  %t36 = insertelement <16 x float> poison, float %t35, i64 0
  %t37 = shufflevector <16 x float> %t36, <16 x float> poison, <16 x i32> zeroinitializer
  %t38 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t37, <16 x float> %t30, <16 x float> %p10)
  %t39 = getelementptr i8, ptr %t14, i64 8
  %t40 = load float, ptr %t39, align 4
  %t41 = getelementptr i8, ptr %t17, i64 128
  %t42 = load <16 x float>, ptr %t41, align 4
  %t43 = insertelement <16 x float> poison, float %t40, i64 0
  %t44 = shufflevector <16 x float> %t43, <16 x float> poison, <16 x i32> zeroinitializer
  %t45 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t44, <16 x float> %t42, <16 x float> %p7)
  %t46 = getelementptr i8, ptr %t14, i64 40
  %t47 = load float, ptr %t46, align 4
  %t48 = insertelement <16 x float> poison, float %t47, i64 0
  %t49 = shufflevector <16 x float> %t48, <16 x float> poison, <16 x i32> zeroinitializer
  %t50 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t49, <16 x float> %t42, <16 x float> %p11)
  %t51 = getelementptr i8, ptr %t14, i64 12
  %t52 = load float, ptr %t51, align 4
  %t53 = getelementptr i8, ptr %t17, i64 192
  %t54 = load <16 x float>, ptr %t53, align 4
  %t55 = insertelement <16 x float> poison, float %t52, i64 0
  %t56 = shufflevector <16 x float> %t55, <16 x float> poison, <16 x i32> zeroinitializer
  %t57 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t56, <16 x float> %t54, <16 x float> %p8)
  %t58 = getelementptr i8, ptr %t14, i64 44
  %t59 = load float, ptr %t58, align 4
  %t60 = insertelement <16 x float> poison, float %t59, i64 0
  %t61 = shufflevector <16 x float> %t60, <16 x float> poison, <16 x i32> zeroinitializer
  %t62 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t61, <16 x float> %t54, <16 x float> %p12)
  %t63 = add nuw nsw i64 %i2, 1
  %t64 = icmp ult i64 %t63, 2
  br i1 %t64, label %loop1, label %done65
done65:
  %t66 = fadd <16 x float> %t21, %t33
  %t67 = fadd <16 x float> %t45, %t57
  %t68 = fadd <16 x float> %t66, %t67
  %t69 = fadd <16 x float> splat (float 0x0000000000000000), %t68
  %t70 = fadd <16 x float> %t26, %t38
  %t71 = fadd <16 x float> %t50, %t62
  %t72 = fadd <16 x float> %t70, %t71
  %t73 = fadd <16 x float> splat (float 0x0000000000000000), %t72
  %t74 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t69
  %t75 = select <16 x i1> %t74, <16 x float> splat (float 0x0000000000000000), <16 x float> %t69
  store <16 x float> %t75, ptr %arg2, align 4
  %t76 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t73
  %t77 = select <16 x i1> %t76, <16 x float> splat (float 0x0000000000000000), <16 x float> %t73
  %t78 = getelementptr i8, ptr %arg2, i64 64
  store <16 x float> %t77, ptr %t78, align 4
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
