declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
define internal void @work1(ptr noalias %b0, ptr noalias %b1, ptr noalias %b2, ptr noalias %local, i64 %lo, i64 %hi) #0 {
entry:
  %t1 = sub i64 %hi, %lo
  br label %loop2
loop2:
  %i3 = phi i64 [ 0, %entry ], [ %t141, %done128 ]
  %t4 = add i64 %i3, %lo
  %t5 = mul i64 %t4, 128
  %t6 = getelementptr i8, ptr %b2, i64 %t5
  call void @llvm.prefetch.p0(ptr %t6, i32 1, i32 3, i32 1)
  %t7 = getelementptr i8, ptr %t6, i64 64
  call void @llvm.prefetch.p0(ptr %t7, i32 1, i32 3, i32 1)
  %t20 = mul i64 %t4, 1024
  %t21 = getelementptr i8, ptr %b1, i64 %t20
  %t26 = mul i64 %t4, 512
  %t27 = getelementptr i8, ptr %b0, i64 %t26
  br label %loop8
loop8:
  %i9 = phi i64 [ 0, %loop2 ], [ %t126, %loop8 ]
  %p12 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t84, %loop8 ]
  %p13 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t96, %loop8 ]
  %p14 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t108, %loop8 ]
  %p15 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t120, %loop8 ]
  %p16 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t89, %loop8 ]
  %p17 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t101, %loop8 ]
  %p18 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t113, %loop8 ]
  %p19 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t125, %loop8 ]
  %s22 = phi i64 [ 0, %loop2 ], [ %s22.next, %loop8 ]
  %s28 = phi i64 [ 0, %loop2 ], [ %s28.next, %loop8 ]
  %s31 = phi i64 [ 0, %loop2 ], [ %s31.next, %loop8 ]
  %s22.next = add nsw i64 %s22, 128
  %s28.next = add nsw i64 %s28, 32
  %s31.next = add nsw i64 %s31, 512
  %t23 = getelementptr i8, ptr %t21, i64 %s22
  %t24 = getelementptr i8, ptr %t23, i64 4096
  call void @llvm.prefetch.p0(ptr %t24, i32 0, i32 2, i32 1)
  %t25 = getelementptr i8, ptr %t23, i64 4160
  call void @llvm.prefetch.p0(ptr %t25, i32 0, i32 2, i32 1)
  %t29 = getelementptr i8, ptr %t27, i64 %s28
  %t30 = load float, ptr %t29, align 4
  %t32 = getelementptr i8, ptr %b1, i64 %s31
  %t33 = load <16 x float>, ptr %t32, align 4
  %t34 = insertelement <16 x float> poison, float %t30, i64 0
  %t35 = shufflevector <16 x float> %t34, <16 x float> poison, <16 x i32> zeroinitializer
  %t36 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t35, <16 x float> %t33, <16 x float> %p12)
  %t37 = getelementptr i8, ptr %t29, i64 256
  %t38 = load float, ptr %t37, align 4
  %t39 = insertelement <16 x float> poison, float %t38, i64 0
  %t40 = shufflevector <16 x float> %t39, <16 x float> poison, <16 x i32> zeroinitializer
  %t41 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t40, <16 x float> %t33, <16 x float> %p16)
  %t42 = getelementptr i8, ptr %t29, i64 4
  %t43 = load float, ptr %t42, align 4
  %t44 = getelementptr i8, ptr %t32, i64 64
  %t45 = load <16 x float>, ptr %t44, align 4
  %t46 = insertelement <16 x float> poison, float %t43, i64 0
  %t47 = shufflevector <16 x float> %t46, <16 x float> poison, <16 x i32> zeroinitializer
  %t48 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t47, <16 x float> %t45, <16 x float> %p13)
  %t49 = getelementptr i8, ptr %t29, i64 260
  %t50 = load float, ptr %t49, align 4
  %t51 = insertelement <16 x float> poison, float %t50, i64 0
  %t52 = shufflevector <16 x float> %t51, <16 x float> poison, <16 x i32> zeroinitializer
  %t53 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t52, <16 x float> %t45, <16 x float> %p17)
  %t54 = getelementptr i8, ptr %t29, i64 8
  %t55 = load float, ptr %t54, align 4
  %t56 = getelementptr i8, ptr %t32, i64 128
  %t57 = load <16 x float>, ptr %t56, align 4
  %t58 = insertelement <16 x float> poison, float %t55, i64 0
  %t59 = shufflevector <16 x float> %t58, <16 x float> poison, <16 x i32> zeroinitializer
  %t60 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t59, <16 x float> %t57, <16 x float> %p14)
  %t61 = getelementptr i8, ptr %t29, i64 264
  %t62 = load float, ptr %t61, align 4
  %t63 = insertelement <16 x float> poison, float %t62, i64 0
  %t64 = shufflevector <16 x float> %t63, <16 x float> poison, <16 x i32> zeroinitializer
  %t65 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t64, <16 x float> %t57, <16 x float> %p18)
  %t66 = getelementptr i8, ptr %t29, i64 12
  %t67 = load float, ptr %t66, align 4
  %t68 = getelementptr i8, ptr %t32, i64 192
  %t69 = load <16 x float>, ptr %t68, align 4
  %t70 = insertelement <16 x float> poison, float %t67, i64 0
  %t71 = shufflevector <16 x float> %t70, <16 x float> poison, <16 x i32> zeroinitializer
  %t72 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t71, <16 x float> %t69, <16 x float> %p15)
  %t73 = getelementptr i8, ptr %t29, i64 268
  %t74 = load float, ptr %t73, align 4
  %t75 = insertelement <16 x float> poison, float %t74, i64 0
  %t76 = shufflevector <16 x float> %t75, <16 x float> poison, <16 x i32> zeroinitializer
  %t77 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t76, <16 x float> %t69, <16 x float> %p19)
  %t78 = getelementptr i8, ptr %t29, i64 16
  %t79 = load float, ptr %t78, align 4
  %t80 = getelementptr i8, ptr %t32, i64 256
  %t81 = load <16 x float>, ptr %t80, align 4
  %t82 = insertelement <16 x float> poison, float %t79, i64 0
  %t83 = shufflevector <16 x float> %t82, <16 x float> poison, <16 x i32> zeroinitializer
  %t84 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t83, <16 x float> %t81, <16 x float> %t36)
  %t85 = getelementptr i8, ptr %t29, i64 272
  %t86 = load float, ptr %t85, align 4
  %t87 = insertelement <16 x float> poison, float %t86, i64 0
  %t88 = shufflevector <16 x float> %t87, <16 x float> poison, <16 x i32> zeroinitializer
  %t89 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t88, <16 x float> %t81, <16 x float> %t41)
  %t90 = getelementptr i8, ptr %t29, i64 20
  %t91 = load float, ptr %t90, align 4
  %t92 = getelementptr i8, ptr %t32, i64 320
  %t93 = load <16 x float>, ptr %t92, align 4
  %t94 = insertelement <16 x float> poison, float %t91, i64 0
  %t95 = shufflevector <16 x float> %t94, <16 x float> poison, <16 x i32> zeroinitializer
  %t96 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t95, <16 x float> %t93, <16 x float> %t48)
  %t97 = getelementptr i8, ptr %t29, i64 276
  %t98 = load float, ptr %t97, align 4
  %t99 = insertelement <16 x float> poison, float %t98, i64 0
  %t100 = shufflevector <16 x float> %t99, <16 x float> poison, <16 x i32> zeroinitializer
  %t101 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t100, <16 x float> %t93, <16 x float> %t53)
  %t102 = getelementptr i8, ptr %t29, i64 24
  %t103 = load float, ptr %t102, align 4
  %t104 = getelementptr i8, ptr %t32, i64 384
  %t105 = load <16 x float>, ptr %t104, align 4
  %t106 = insertelement <16 x float> poison, float %t103, i64 0
  %t107 = shufflevector <16 x float> %t106, <16 x float> poison, <16 x i32> zeroinitializer
  %t108 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t107, <16 x float> %t105, <16 x float> %t60)
  %t109 = getelementptr i8, ptr %t29, i64 280
  %t110 = load float, ptr %t109, align 4
  %t111 = insertelement <16 x float> poison, float %t110, i64 0
  %t112 = shufflevector <16 x float> %t111, <16 x float> poison, <16 x i32> zeroinitializer
  %t113 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t112, <16 x float> %t105, <16 x float> %t65)
  %t114 = getelementptr i8, ptr %t29, i64 28
  %t115 = load float, ptr %t114, align 4
  %t116 = getelementptr i8, ptr %t32, i64 448
  %t117 = load <16 x float>, ptr %t116, align 4
  %t118 = insertelement <16 x float> poison, float %t115, i64 0
  %t119 = shufflevector <16 x float> %t118, <16 x float> poison, <16 x i32> zeroinitializer
  %t120 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t119, <16 x float> %t117, <16 x float> %t72)
  %t121 = getelementptr i8, ptr %t29, i64 284
  %t122 = load float, ptr %t121, align 4
  %t123 = insertelement <16 x float> poison, float %t122, i64 0
  %t124 = shufflevector <16 x float> %t123, <16 x float> poison, <16 x i32> zeroinitializer
  %t125 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t124, <16 x float> %t117, <16 x float> %t77)
  %t126 = add nuw nsw i64 %i9, 1
  %t127 = icmp ult i64 %t126, 8
  br i1 %t127, label %loop8, label %done128
done128:
  %t129 = fadd <16 x float> %t84, %t96
  %t130 = fadd <16 x float> %t108, %t120
  %t131 = fadd <16 x float> %t129, %t130
  %t132 = fadd <16 x float> splat (float 0x0000000000000000), %t131
  %t133 = fadd <16 x float> %t89, %t101
  %t134 = fadd <16 x float> %t113, %t125
  %t135 = fadd <16 x float> %t133, %t134
  %t136 = fadd <16 x float> splat (float 0x0000000000000000), %t135
  %t137 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t132
  %t138 = select <16 x i1> %t137, <16 x float> splat (float 0x0000000000000000), <16 x float> %t132
  store <16 x float> %t138, ptr %t6, align 4
  %t139 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t136
  %t140 = select <16 x i1> %t139, <16 x float> splat (float 0x0000000000000000), <16 x float> %t136
  store <16 x float> %t140, ptr %t7, align 4
  %t141 = add nuw nsw i64 %i3, 1
  %t142 = icmp ult i64 %t141, %t1
  br i1 %t142, label %loop2, label %done143
done143:
  ret void
}

define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %scratch) #0 {
entry:
  %t1 = getelementptr i8, ptr %scratch, i64 0
  call void @work1(ptr %arg0, ptr %arg1, ptr %arg2, ptr %t1, i64 0, i64 4)
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
