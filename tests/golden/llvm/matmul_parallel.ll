@loop1 = internal global [4 x i64] zeroinitializer
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
declare void @tw_parallel(ptr, ptr, i64, i64, i32, ptr)
define internal void @work1(ptr noalias %b0, ptr noalias %b1, ptr noalias %b2, ptr noalias %local, i64 %lo, i64 %hi) #0 {
entry:
  %t1 = sub i64 %hi, %lo
  br label %loop2
loop2:
  %i3 = phi i64 [ 0, %entry ], [ %t87, %done71 ]
  %t4 = add i64 %i3, %lo
  %t17 = mul i64 %t4, 64
  %t18 = getelementptr i8, ptr %b0, i64 %t17
  br label %loop5
loop5:
  %i6 = phi i64 [ 0, %loop2 ], [ %t69, %loop5 ]
  %p9 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t27, %loop5 ]
  %p10 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t39, %loop5 ]
  %p11 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t51, %loop5 ]
  %p12 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t63, %loop5 ]
  %p13 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t32, %loop5 ]
  %p14 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t44, %loop5 ]
  %p15 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t56, %loop5 ]
  %p16 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %t68, %loop5 ]
  %s19 = phi i64 [ 0, %loop2 ], [ %s19.next, %loop5 ]
  %s22 = phi i64 [ 0, %loop2 ], [ %s22.next, %loop5 ]
  %s19.next = add nsw i64 %s19, 16
  %s22.next = add nsw i64 %s22, 256
  %t20 = getelementptr i8, ptr %t18, i64 %s19
  %t21 = load float, ptr %t20, align 4
  %t23 = getelementptr i8, ptr %b1, i64 %s22
  %t24 = load <16 x float>, ptr %t23, align 4
  %t25 = insertelement <16 x float> poison, float %t21, i64 0
  %t26 = shufflevector <16 x float> %t25, <16 x float> poison, <16 x i32> zeroinitializer
  %t27 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t26, <16 x float> %t24, <16 x float> %p9)
  %t28 = getelementptr i8, ptr %t20, i64 32
  %t29 = load float, ptr %t28, align 4
  %t30 = insertelement <16 x float> poison, float %t29, i64 0
  %t31 = shufflevector <16 x float> %t30, <16 x float> poison, <16 x i32> zeroinitializer
  %t32 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t31, <16 x float> %t24, <16 x float> %p13)
  %t33 = getelementptr i8, ptr %t20, i64 4
  %t34 = load float, ptr %t33, align 4
  %t35 = getelementptr i8, ptr %t23, i64 64
  %t36 = load <16 x float>, ptr %t35, align 4
  %t37 = insertelement <16 x float> poison, float %t34, i64 0
  %t38 = shufflevector <16 x float> %t37, <16 x float> poison, <16 x i32> zeroinitializer
  %t39 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t38, <16 x float> %t36, <16 x float> %p10)
  %t40 = getelementptr i8, ptr %t20, i64 36
  %t41 = load float, ptr %t40, align 4
  %t42 = insertelement <16 x float> poison, float %t41, i64 0
  %t43 = shufflevector <16 x float> %t42, <16 x float> poison, <16 x i32> zeroinitializer
  %t44 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t43, <16 x float> %t36, <16 x float> %p14)
  %t45 = getelementptr i8, ptr %t20, i64 8
  %t46 = load float, ptr %t45, align 4
  %t47 = getelementptr i8, ptr %t23, i64 128
  %t48 = load <16 x float>, ptr %t47, align 4
  %t49 = insertelement <16 x float> poison, float %t46, i64 0
  %t50 = shufflevector <16 x float> %t49, <16 x float> poison, <16 x i32> zeroinitializer
  %t51 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t50, <16 x float> %t48, <16 x float> %p11)
  %t52 = getelementptr i8, ptr %t20, i64 40
  %t53 = load float, ptr %t52, align 4
  %t54 = insertelement <16 x float> poison, float %t53, i64 0
  %t55 = shufflevector <16 x float> %t54, <16 x float> poison, <16 x i32> zeroinitializer
  %t56 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t55, <16 x float> %t48, <16 x float> %p15)
  %t57 = getelementptr i8, ptr %t20, i64 12
  %t58 = load float, ptr %t57, align 4
  %t59 = getelementptr i8, ptr %t23, i64 192
  %t60 = load <16 x float>, ptr %t59, align 4
  %t61 = insertelement <16 x float> poison, float %t58, i64 0
  %t62 = shufflevector <16 x float> %t61, <16 x float> poison, <16 x i32> zeroinitializer
  %t63 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t62, <16 x float> %t60, <16 x float> %p12)
  %t64 = getelementptr i8, ptr %t20, i64 44
  %t65 = load float, ptr %t64, align 4
  %t66 = insertelement <16 x float> poison, float %t65, i64 0
  %t67 = shufflevector <16 x float> %t66, <16 x float> poison, <16 x i32> zeroinitializer
  %t68 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t67, <16 x float> %t60, <16 x float> %p16)
  %t69 = add nuw nsw i64 %i6, 1
  %t70 = icmp ult i64 %t69, 2
  br i1 %t70, label %loop5, label %done71
done71:
  %t72 = fadd <16 x float> %t27, %t39
  %t73 = fadd <16 x float> %t51, %t63
  %t74 = fadd <16 x float> %t72, %t73
  %t75 = fadd <16 x float> splat (float 0x0000000000000000), %t74
  %t76 = fadd <16 x float> %t32, %t44
  %t77 = fadd <16 x float> %t56, %t68
  %t78 = fadd <16 x float> %t76, %t77
  %t79 = fadd <16 x float> splat (float 0x0000000000000000), %t78
  %t80 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t75
  %t81 = select <16 x i1> %t80, <16 x float> splat (float 0x0000000000000000), <16 x float> %t75
  %t82 = mul i64 %t4, 128
  %t83 = getelementptr i8, ptr %b2, i64 %t82
  store <16 x float> %t81, ptr %t83, align 4
  %t84 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t79
  %t85 = select <16 x i1> %t84, <16 x float> splat (float 0x0000000000000000), <16 x float> %t79
  %t86 = getelementptr i8, ptr %t83, i64 64
  store <16 x float> %t85, ptr %t86, align 4
  %t87 = add nuw nsw i64 %i3, 1
  %t88 = icmp ult i64 %t87, %t1
  br i1 %t88, label %loop2, label %done89
done89:
  ret void
}

define internal void @region1(ptr %ctx, i64 %lo, i64 %hi, i64 %member) #0 {
  %at0 = getelementptr i8, ptr %ctx, i64 0
  %v0 = load ptr, ptr %at0, align 8
  %at1 = getelementptr i8, ptr %ctx, i64 8
  %v1 = load ptr, ptr %at1, align 8
  %at2 = getelementptr i8, ptr %ctx, i64 16
  %v2 = load ptr, ptr %at2, align 8
  %at3 = getelementptr i8, ptr %ctx, i64 24
  %v3 = load ptr, ptr %at3, align 8
  %offset = mul i64 %member, 0
  %mine = getelementptr i8, ptr %v3, i64 %offset
  call void @work1(ptr %v0, ptr %v1, ptr %v2, ptr %mine, i64 %lo, i64 %hi)
  ret void
}

define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %scratch) #0 {
entry:
  %a2 = alloca [32 x i8], align 8
  %t1 = getelementptr i8, ptr %scratch, i64 0
  %t3 = getelementptr i8, ptr %a2, i64 0
  store ptr %arg0, ptr %t3, align 8
  %t4 = getelementptr i8, ptr %a2, i64 8
  store ptr %arg1, ptr %t4, align 8
  %t5 = getelementptr i8, ptr %a2, i64 16
  store ptr %arg2, ptr %t5, align 8
  %t6 = getelementptr i8, ptr %a2, i64 24
  store ptr %t1, ptr %t6, align 8
  call void @tw_parallel(ptr @region1, ptr %a2, i64 2, i64 1, i32 2, ptr @loop1)
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
