declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, <16 x i1>)
define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %scratch) #0 {
entry:
  br label %loop1
loop1:
  %i2 = phi i64 [ 0, %entry ], [ %t71, %loop1 ]
  %p5 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t22, %loop1 ]
  %p6 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t36, %loop1 ]
  %p7 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t50, %loop1 ]
  %p8 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t64, %loop1 ]
  %p9 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t28, %loop1 ]
  %p10 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t42, %loop1 ]
  %p11 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t56, %loop1 ]
  %p12 = phi <16 x float> [ splat (float 0x0000000000000000), %entry ], [ %t70, %loop1 ]
  %s13 = phi i64 [ 0, %entry ], [ %s13.next, %loop1 ]
  %s16 = phi i64 [ 0, %entry ], [ %s16.next, %loop1 ]
  %s13.next = add nsw i64 %s13, 16
  %s16.next = add nsw i64 %s16, 208
  %t14 = getelementptr i8, ptr %arg0, i64 %s13
  %t15 = load float, ptr %t14, align 4
  %t17 = getelementptr i8, ptr %arg1, i64 %s16
  %t18 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %t17, <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> zeroinitializer)
  %t19 = insertelement <16 x float> poison, float %t15, i64 0
  %t20 = shufflevector <16 x float> %t19, <16 x float> poison, <16 x i32> zeroinitializer
  %t21 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t20, <16 x float> %t18, <16 x float> %p5)
  %t22 = select <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> %t21, <16 x float> %p5
  %t23 = getelementptr i8, ptr %t14, i64 32
  %t24 = load float, ptr %t23, align 4
  %t25 = insertelement <16 x float> poison, float %t24, i64 0
  %t26 = shufflevector <16 x float> %t25, <16 x float> poison, <16 x i32> zeroinitializer
  %t27 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t26, <16 x float> %t18, <16 x float> %p9)
  %t28 = select <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> %t27, <16 x float> %p9
  %t29 = getelementptr i8, ptr %t14, i64 4
  %t30 = load float, ptr %t29, align 4
  %t31 = getelementptr i8, ptr %t17, i64 52
  %t32 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %t31, <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> zeroinitializer)
  %t33 = insertelement <16 x float> poison, float %t30, i64 0
  %t34 = shufflevector <16 x float> %t33, <16 x float> poison, <16 x i32> zeroinitializer
  %t35 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t34, <16 x float> %t32, <16 x float> %p6)
  %t36 = select <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> %t35, <16 x float> %p6
  %t37 = getelementptr i8, ptr %t14, i64 36
  %t38 = load float, ptr %t37, align 4
  %t39 = insertelement <16 x float> poison, float %t38, i64 0
  %t40 = shufflevector <16 x float> %t39, <16 x float> poison, <16 x i32> zeroinitializer
  %t41 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t40, <16 x float> %t32, <16 x float> %p10)
  %t42 = select <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> %t41, <16 x float> %p10
  %t43 = getelementptr i8, ptr %t14, i64 8
  %t44 = load float, ptr %t43, align 4
  %t45 = getelementptr i8, ptr %t17, i64 104
  %t46 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %t45, <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> zeroinitializer)
  %t47 = insertelement <16 x float> poison, float %t44, i64 0
  %t48 = shufflevector <16 x float> %t47, <16 x float> poison, <16 x i32> zeroinitializer
  %t49 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t48, <16 x float> %t46, <16 x float> %p7)
  %t50 = select <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> %t49, <16 x float> %p7
  %t51 = getelementptr i8, ptr %t14, i64 40
  %t52 = load float, ptr %t51, align 4
  %t53 = insertelement <16 x float> poison, float %t52, i64 0
  %t54 = shufflevector <16 x float> %t53, <16 x float> poison, <16 x i32> zeroinitializer
  %t55 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t54, <16 x float> %t46, <16 x float> %p11)
  %t56 = select <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> %t55, <16 x float> %p11
  %t57 = getelementptr i8, ptr %t14, i64 12
  %t58 = load float, ptr %t57, align 4
  %t59 = getelementptr i8, ptr %t17, i64 156
  %t60 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 4 %t59, <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> zeroinitializer)
  %t61 = insertelement <16 x float> poison, float %t58, i64 0
  %t62 = shufflevector <16 x float> %t61, <16 x float> poison, <16 x i32> zeroinitializer
  %t63 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t62, <16 x float> %t60, <16 x float> %p8)
  %t64 = select <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> %t63, <16 x float> %p8
  %t65 = getelementptr i8, ptr %t14, i64 44
  %t66 = load float, ptr %t65, align 4
  %t67 = insertelement <16 x float> poison, float %t66, i64 0
  %t68 = shufflevector <16 x float> %t67, <16 x float> poison, <16 x i32> zeroinitializer
  %t69 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t68, <16 x float> %t60, <16 x float> %p12)
  %t70 = select <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>, <16 x float> %t69, <16 x float> %p12
  %t71 = add nuw nsw i64 %i2, 1
  %t72 = icmp ult i64 %t71, 2
  br i1 %t72, label %loop1, label %done73
done73:
  %t74 = fadd <16 x float> %t22, %t36
  %t75 = fadd <16 x float> %t50, %t64
  %t76 = fadd <16 x float> %t74, %t75
  %t77 = fadd <16 x float> splat (float 0x0000000000000000), %t76
  %t78 = fadd <16 x float> %t28, %t42
  %t79 = fadd <16 x float> %t56, %t70
  %t80 = fadd <16 x float> %t78, %t79
  %t81 = fadd <16 x float> splat (float 0x0000000000000000), %t80
  %t82 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t77
  %t83 = select <16 x i1> %t82, <16 x float> splat (float 0x0000000000000000), <16 x float> %t77
  call void @llvm.masked.store.v16f32.p0(<16 x float> %t83, ptr align 4 %arg2, <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>)
  %t84 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t81
  %t85 = select <16 x i1> %t84, <16 x float> splat (float 0x0000000000000000), <16 x float> %t81
  %t86 = getelementptr i8, ptr %arg2, i64 52
  call void @llvm.masked.store.v16f32.p0(<16 x float> %t85, ptr align 4 %t86, <16 x i1> <i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 true, i1 false, i1 false, i1 false>)
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
