declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %scratch) #0 {
entry:
  br label %loop1
loop1:
  %i2 = phi i64 [ 0, %entry ], [ %t81, %loop1 ]
  %p7 = phi <4 x float> [ splat (float 0x0000000000000000), %entry ], [ %t55, %loop1 ]
  %p8 = phi <4 x float> [ splat (float 0x0000000000000000), %entry ], [ %t71, %loop1 ]
  %p9 = phi <4 x float> [ splat (float 0x0000000000000000), %entry ], [ %t58, %loop1 ]
  %p10 = phi <4 x float> [ splat (float 0x0000000000000000), %entry ], [ %t74, %loop1 ]
  %p11 = phi <4 x float> [ splat (float 0x0000000000000000), %entry ], [ %t63, %loop1 ]
  %p12 = phi <4 x float> [ splat (float 0x0000000000000000), %entry ], [ %t79, %loop1 ]
  %p13 = phi <4 x float> [ splat (float 0x0000000000000000), %entry ], [ %t64, %loop1 ]
  %p14 = phi <4 x float> [ splat (float 0x0000000000000000), %entry ], [ %t80, %loop1 ]
  %s15 = phi i64 [ 0, %entry ], [ %s15.next, %loop1 ]
  %s18 = phi i64 [ 0, %entry ], [ %s18.next, %loop1 ]
  %s15.next = add nsw i64 %s15, 16
  %s18.next = add nsw i64 %s18, 128
  %t16 = getelementptr i8, ptr %arg0, i64 %s15
  %t17 = load float, ptr %t16, align 4
  %t19 = getelementptr i8, ptr %arg1, i64 %s18
  %t20 = load <4 x float>, ptr %t19, align 4
  %t21 = insertelement <4 x float> poison, float %t17, i64 0
  %t22 = shufflevector <4 x float> %t21, <4 x float> poison, <4 x i32> zeroinitializer
  %t23 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t22, <4 x float> %t20, <4 x float> %p7)
  %t24 = getelementptr i8, ptr %t19, i64 16
  %t25 = load <4 x float>, ptr %t24, align 4
  %t26 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t22, <4 x float> %t25, <4 x float> %p9)
  %t27 = getelementptr i8, ptr %t16, i64 32
  %t28 = load float, ptr %t27, align 4
  %t29 = insertelement <4 x float> poison, float %t28, i64 0
  %t30 = shufflevector <4 x float> %t29, <4 x float> poison, <4 x i32> zeroinitializer
  %t31 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t30, <4 x float> %t20, <4 x float> %p11)
  %t32 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t30, <4 x float> %t25, <4 x float> %p13)
  %t33 = getelementptr i8, ptr %t16, i64 4
  %t34 = load float, ptr %t33, align 4
  %t35 = getelementptr i8, ptr %t19, i64 32
  %t36 = load <4 x float>, ptr %t35, align 4
  %t37 = insertelement <4 x float> poison, float %t34, i64 0
  %t38 = shufflevector <4 x float> %t37, <4 x float> poison, <4 x i32> zeroinitializer
  %t39 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t38, <4 x float> %t36, <4 x float> %p8)
  %t40 = getelementptr i8, ptr %t19, i64 48
  %t41 = load <4 x float>, ptr %t40, align 4
  %t42 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t38, <4 x float> %t41, <4 x float> %p10)
  %t43 = getelementptr i8, ptr %t16, i64 36
  %t44 = load float, ptr %t43, align 4
  %t45 = insertelement <4 x float> poison, float %t44, i64 0
  %t46 = shufflevector <4 x float> %t45, <4 x float> poison, <4 x i32> zeroinitializer
  %t47 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t46, <4 x float> %t36, <4 x float> %p12)
  %t48 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t46, <4 x float> %t41, <4 x float> %p14)
  %t49 = getelementptr i8, ptr %t16, i64 8
  %t50 = load float, ptr %t49, align 4
  %t51 = getelementptr i8, ptr %t19, i64 64
  %t52 = load <4 x float>, ptr %t51, align 4
  %t53 = insertelement <4 x float> poison, float %t50, i64 0
  %t54 = shufflevector <4 x float> %t53, <4 x float> poison, <4 x i32> zeroinitializer
  %t55 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t54, <4 x float> %t52, <4 x float> %t23)
  %t56 = getelementptr i8, ptr %t19, i64 80
  %t57 = load <4 x float>, ptr %t56, align 4
  %t58 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t54, <4 x float> %t57, <4 x float> %t26)
  %t59 = getelementptr i8, ptr %t16, i64 40
  %t60 = load float, ptr %t59, align 4
  %t61 = insertelement <4 x float> poison, float %t60, i64 0
  %t62 = shufflevector <4 x float> %t61, <4 x float> poison, <4 x i32> zeroinitializer
  %t63 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t62, <4 x float> %t52, <4 x float> %t31)
  %t64 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t62, <4 x float> %t57, <4 x float> %t32)
  %t65 = getelementptr i8, ptr %t16, i64 12
  %t66 = load float, ptr %t65, align 4
  %t67 = getelementptr i8, ptr %t19, i64 96
  %t68 = load <4 x float>, ptr %t67, align 4
  %t69 = insertelement <4 x float> poison, float %t66, i64 0
  %t70 = shufflevector <4 x float> %t69, <4 x float> poison, <4 x i32> zeroinitializer
  %t71 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t70, <4 x float> %t68, <4 x float> %t39)
  %t72 = getelementptr i8, ptr %t19, i64 112
  %t73 = load <4 x float>, ptr %t72, align 4
  %t74 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t70, <4 x float> %t73, <4 x float> %t42)
  %t75 = getelementptr i8, ptr %t16, i64 44
  %t76 = load float, ptr %t75, align 4
  %t77 = insertelement <4 x float> poison, float %t76, i64 0
  %t78 = shufflevector <4 x float> %t77, <4 x float> poison, <4 x i32> zeroinitializer
  %t79 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t78, <4 x float> %t68, <4 x float> %t47)
  %t80 = call <4 x float> @llvm.fma.v4f32(<4 x float> %t78, <4 x float> %t73, <4 x float> %t48)
  %t81 = add nuw nsw i64 %i2, 1
  %t82 = icmp ult i64 %t81, 2
  br i1 %t82, label %loop1, label %done83
done83:
  %t84 = fadd <4 x float> %t55, %t71
  %t85 = fadd <4 x float> splat (float 0x0000000000000000), %t84
  %t86 = fadd <4 x float> %t58, %t74
  %t87 = fadd <4 x float> splat (float 0x0000000000000000), %t86
  %t88 = fadd <4 x float> %t63, %t79
  %t89 = fadd <4 x float> splat (float 0x0000000000000000), %t88
  %t90 = fadd <4 x float> %t64, %t80
  %t91 = fadd <4 x float> splat (float 0x0000000000000000), %t90
  %t92 = fcmp ogt <4 x float> splat (float 0x0000000000000000), %t85
  %t93 = select <4 x i1> %t92, <4 x float> splat (float 0x0000000000000000), <4 x float> %t85
  store <4 x float> %t93, ptr %arg2, align 4
  %t94 = fcmp ogt <4 x float> splat (float 0x0000000000000000), %t87
  %t95 = select <4 x i1> %t94, <4 x float> splat (float 0x0000000000000000), <4 x float> %t87
  %t96 = getelementptr i8, ptr %arg2, i64 16
  store <4 x float> %t95, ptr %t96, align 4
  %t97 = fcmp ogt <4 x float> splat (float 0x0000000000000000), %t89
  %t98 = select <4 x i1> %t97, <4 x float> splat (float 0x0000000000000000), <4 x float> %t89
  %t99 = getelementptr i8, ptr %arg2, i64 32
  store <4 x float> %t98, ptr %t99, align 4
  %t100 = fcmp ogt <4 x float> splat (float 0x0000000000000000), %t91
  %t101 = select <4 x i1> %t100, <4 x float> splat (float 0x0000000000000000), <4 x float> %t91
  %t102 = getelementptr i8, ptr %arg2, i64 48
  store <4 x float> %t101, ptr %t102, align 4
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
