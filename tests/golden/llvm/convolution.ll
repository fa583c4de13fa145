declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
define internal void @work1(ptr noalias %b0, ptr noalias %b1, ptr noalias %b2, ptr noalias %b3, ptr noalias %local, i64 %lo, i64 %hi) #0 {
entry:
  %t1 = sub i64 %hi, %lo
  %t184 = load <16 x float>, ptr %b2, align 4
  br label %loop2
loop2:
  %i3 = phi i64 [ 0, %entry ], [ %t197, %done183 ]
  %t4 = add i64 %i3, %lo
  %t5 = mul i64 %t4, 256
  %t6 = getelementptr i8, ptr %b3, i64 %t5
  call void @llvm.prefetch.p0(ptr %t6, i32 1, i32 3, i32 1)
  %t7 = getelementptr i8, ptr %t6, i64 64
  call void @llvm.prefetch.p0(ptr %t7, i32 1, i32 3, i32 1)
  %t8 = getelementptr i8, ptr %t6, i64 128
  call void @llvm.prefetch.p0(ptr %t8, i32 1, i32 3, i32 1)
  %t9 = getelementptr i8, ptr %t6, i64 192
  call void @llvm.prefetch.p0(ptr %t9, i32 1, i32 3, i32 1)
  %t10 = mul i64 %t4, -1
  %t11 = add i64 %t10, 1
  %t12 = call i64 @llvm.smax.i64(i64 0, i64 %t11)
  %t13 = add i64 %t10, 4
  %t14 = call i64 @llvm.smin.i64(i64 3, i64 %t13)
  %t15 = mul i64 %t12, -1
  %t16 = add i64 %t15, %t14
  br label %loop17
loop17:
  %i18 = phi i64 [ 0, %loop2 ], [ %t181, %done180 ]
  %p19 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %m175, %done180 ]
  %p20 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %m176, %done180 ]
  %p21 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %m177, %done180 ]
  %p22 = phi <16 x float> [ splat (float 0x0000000000000000), %loop2 ], [ %m130, %done180 ]
  br label %loop23
loop23:
  %i24 = phi i64 [ 0, %loop17 ], [ %t178, %join174 ]
  %p25 = phi <16 x float> [ %p19, %loop17 ], [ %m175, %join174 ]
  %p26 = phi <16 x float> [ %p20, %loop17 ], [ %m176, %join174 ]
  %p27 = phi <16 x float> [ %p21, %loop17 ], [ %m177, %join174 ]
  %p28 = phi <16 x float> [ %p22, %loop17 ], [ %m130, %join174 ]
  %t29 = icmp slt i64 %i24, 1
  br i1 %t29, label %then30, label %join72
then30:
  %t37 = mul i64 %t12, 32
  %t38 = mul i64 %t4, 32
  %t39 = add i64 %t37, %t38
  %t40 = getelementptr i8, ptr %b0, i64 %t39
  %t41 = mul i64 %i18, 32
  %t42 = getelementptr i8, ptr %t40, i64 %t41
  %t43 = getelementptr i64, ptr %t42, i64 %i24
  %t47 = mul i64 %t12, 384
  %t48 = getelementptr i8, ptr %b1, i64 %t47
  %t49 = mul i64 %i18, 384
  %t50 = getelementptr i8, ptr %t48, i64 %t49
  %t51 = mul i64 %i24, 128
  %t52 = getelementptr i8, ptr %t50, i64 %t51
  br label %loop31
loop31:
  %i32 = phi i64 [ 0, %then30 ], [ %t69, %loop31 ]
  %p34 = phi <16 x float> [ %p26, %then30 ], [ %t58, %loop31 ]
  %p35 = phi <16 x float> [ %p27, %then30 ], [ %t63, %loop31 ]
  %p36 = phi <16 x float> [ %p28, %then30 ], [ %t68, %loop31 ]
  %s53 = phi i64 [ 0, %then30 ], [ %s53.next, %loop31 ]
  %s53.next = add nsw i64 %s53, 64
  %t44 = getelementptr i32, ptr %t43, i64 %i32
  %t45 = getelementptr i8, ptr %t44, i64 -32
  %t46 = load float, ptr %t45, align 4
  %t54 = getelementptr i8, ptr %t52, i64 %s53
  %t55 = load <16 x float>, ptr %t54, align 4
  %t56 = insertelement <16 x float> poison, float %t46, i64 0
  %t57 = shufflevector <16 x float> %t56, <16 x float> poison, <16 x i32> zeroinitializer
  %t58 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t57, <16 x float> %t55, <16 x float> %p34)
  %t59 = getelementptr i8, ptr %t44, i64 -24
  %t60 = load float, ptr %t59, align 4
  %t61 = insertelement <16 x float> poison, float %t60, i64 0
  %t62 = shufflevector <16 x float> %t61, <16 x float> poison, <16 x i32> zeroinitializer
  %t63 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t62, <16 x float> %t55, <16 x float> %p35)
  %t64 = getelementptr i8, ptr %t44, i64 -16
  %t65 = load float, ptr %t64, align 4
  %t66 = insertelement <16 x float> poison, float %t65, i64 0
  %t67 = shufflevector <16 x float> %t66, <16 x float> poison, <16 x i32> zeroinitializer
  %t68 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t67, <16 x float> %t55, <16 x float> %p36)
  %t69 = add nuw nsw i64 %i32, 1
  %t70 = icmp ult i64 %t69, 2
  br i1 %t70, label %loop31, label %done71
done71:
  br label %join72
join72:
  %m73 = phi <16 x float> [ %t58, %done71 ], [ %p26, %loop23 ]
  %m74 = phi <16 x float> [ %t63, %done71 ], [ %p27, %loop23 ]
  %m75 = phi <16 x float> [ %t68, %done71 ], [ %p28, %loop23 ]
  %t76 = icmp sge i64 %i24, 1
  %t77 = icmp slt i64 %i24, 2
  %t78 = and i1 %t76, %t77
  br i1 %t78, label %then79, label %join126
then79:
  %t86 = mul i64 %t12, 32
  %t87 = mul i64 %t4, 32
  %t88 = add i64 %t86, %t87
  %t89 = getelementptr i8, ptr %b0, i64 %t88
  %t90 = mul i64 %i18, 32
  %t91 = getelementptr i8, ptr %t89, i64 %t90
  %t92 = getelementptr i64, ptr %t91, i64 %i24
  %t96 = mul i64 %t12, 384
  %t97 = getelementptr i8, ptr %b1, i64 %t96
  %t98 = mul i64 %i18, 384
  %t99 = getelementptr i8, ptr %t97, i64 %t98
  %t100 = mul i64 %i24, 128
  %t101 = getelementptr i8, ptr %t99, i64 %t100
  br label %loop80
loop80:
  %i81 = phi i64 [ 0, %then79 ], [ %t123, %loop80 ]
  %p82 = phi <16 x float> [ %p25, %then79 ], [ %t107, %loop80 ]
  %p83 = phi <16 x float> [ %m73, %then79 ], [ %t112, %loop80 ]
  %p84 = phi <16 x float> [ %m74, %then79 ], [ %t117, %loop80 ]
  %p85 = phi <16 x float> [ %m75, %then79 ], [ %t122, %loop80 ]
  %s102 = phi i64 [ 0, %then79 ], [ %s102.next, %loop80 ]
  %s102.next = add nsw i64 %s102, 64
  %t93 = getelementptr i32, ptr %t92, i64 %i81
  %t94 = getelementptr i8, ptr %t93, i64 -40
  %t95 = load float, ptr %t94, align 4
  %t103 = getelementptr i8, ptr %t101, i64 %s102
  %t104 = load <16 x float>, ptr %t103, align 4
  %t105 = insertelement <16 x float> poison, float %t95, i64 0
  %t106 = shufflevector <16 x float> %t105, <16 x float> poison, <16 x i32> zeroinitializer
  %t107 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t106, <16 x float> %t104, <16 x float> %p82)
  %t108 = getelementptr i8, ptr %t93, i64 -32
  %t109 = load float, ptr %t108, align 4
  %t110 = insertelement <16 x float> poison, float %t109, i64 0
  %t111 = shufflevector <16 x float> %t110, <16 x float> poison, <16 x i32> zeroinitializer
  %t112 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t111, <16 x float> %t104, <16 x float> %p83)
  %t113 = getelementptr i8, ptr %t93, i64 -24
  %t114 = load float, ptr %t113, align 4
  %t115 = insertelement <16 x float> poison, float %t114, i64 0
  %t116 = shufflevector <16 x float> %t115, <16 x float> poison, <16 x i32> zeroinitializer
  %t117 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t116, <16 x float> %t104, <16 x float> %p84)
  %t118 = getelementptr i8, ptr %t93, i64 -16
  %t119 = load float, ptr %t118, align 4
  %t120 = insertelement <16 x float> poison, float %t119, i64 0
  %t121 = shufflevector <16 x float> %t120, <16 x float> poison, <16 x i32> zeroinitializer
  %t122 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t121, <16 x float> %t104, <16 x float> %p85)
  %t123 = add nuw nsw i64 %i81, 1
  %t124 = icmp ult i64 %t123, 2
  br i1 %t124, label %loop80, label %done125
done125:
  br label %join126
join126:
  %m127 = phi <16 x float> [ %t107, %done125 ], [ %p25, %join72 ]
  %m128 = phi <16 x float> [ %t112, %done125 ], [ %m73, %join72 ]
  %m129 = phi <16 x float> [ %t117, %done125 ], [ %m74, %join72 ]
  %m130 = phi <16 x float> [ %t122, %done125 ], [ %m75, %join72 ]
  %t131 = icmp sge i64 %i24, 2
  br i1 %t131, label %then132, label %join174
then132:
  %t139 = mul i64 %t12, 32
  %t140 = mul i64 %t4, 32
  %t141 = add i64 %t139, %t140
  %t142 = getelementptr i8, ptr %b0, i64 %t141
  %t143 = mul i64 %i18, 32
  %t144 = getelementptr i8, ptr %t142, i64 %t143
  %t145 = getelementptr i64, ptr %t144, i64 %i24
  %t149 = mul i64 %t12, 384
  %t150 = getelementptr i8, ptr %b1, i64 %t149
  %t151 = mul i64 %i18, 384
  %t152 = getelementptr i8, ptr %t150, i64 %t151
  %t153 = mul i64 %i24, 128
  %t154 = getelementptr i8, ptr %t152, i64 %t153
  br label %loop133
loop133:
  %i134 = phi i64 [ 0, %then132 ], [ %t171, %loop133 ]
  %p135 = phi <16 x float> [ %m127, %then132 ], [ %t160, %loop133 ]
  %p136 = phi <16 x float> [ %m128, %then132 ], [ %t165, %loop133 ]
  %p137 = phi <16 x float> [ %m129, %then132 ], [ %t170, %loop133 ]
  %s155 = phi i64 [ 0, %then132 ], [ %s155.next, %loop133 ]
  %s155.next = add nsw i64 %s155, 64
  %t146 = getelementptr i32, ptr %t145, i64 %i134
  %t147 = getelementptr i8, ptr %t146, i64 -40
  %t148 = load float, ptr %t147, align 4
  %t156 = getelementptr i8, ptr %t154, i64 %s155
  %t157 = load <16 x float>, ptr %t156, align 4
  %t158 = insertelement <16 x float> poison, float %t148, i64 0
  %t159 = shufflevector <16 x float> %t158, <16 x float> poison, <16 x i32> zeroinitializer
  %t160 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t159, <16 x float> %t157, <16 x float> %p135)
  %t161 = getelementptr i8, ptr %t146, i64 -32
  %t162 = load float, ptr %t161, align 4
  %t163 = insertelement <16 x float> poison, float %t162, i64 0
  %t164 = shufflevector <16 x float> %t163, <16 x float> poison, <16 x i32> zeroinitializer
  %t165 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t164, <16 x float> %t157, <16 x float> %p136)
  %t166 = getelementptr i8, ptr %t146, i64 -24
  %t167 = load float, ptr %t166, align 4
  %t168 = insertelement <16 x float> poison, float %t167, i64 0
  %t169 = shufflevector <16 x float> %t168, <16 x float> poison, <16 x i32> zeroinitializer
  %t170 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t169, <16 x float> %t157, <16 x float> %p137)
  %t171 = add nuw nsw i64 %i134, 1
  %t172 = icmp ult i64 %t171, 2
  br i1 %t172, label %loop133, label %done173
done173:
  br label %join174
join174:
  %m175 = phi <16 x float> [ %t160, %done173 ], [ %m127, %join126 ]
  %m176 = phi <16 x float> [ %t165, %done173 ], [ %m128, %join126 ]
  %m177 = phi <16 x float> [ %t170, %done173 ], [ %m129, %join126 ]
  %t178 = add nuw nsw i64 %i24, 1
  %t179 = icmp ult i64 %t178, 3
  br i1 %t179, label %loop23, label %done180
done180:
  %t181 = add nuw nsw i64 %i18, 1
  %t182 = icmp ult i64 %t181, %t16
  br i1 %t182, label %loop17, label %done183
done183:
  %t185 = fadd <16 x float> %m175, %t184
  %t186 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t185
  %t187 = select <16 x i1> %t186, <16 x float> splat (float 0x0000000000000000), <16 x float> %t185
  store <16 x float> %t187, ptr %t6, align 4
  %t188 = fadd <16 x float> %m176, %t184
  %t189 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t188
  %t190 = select <16 x i1> %t189, <16 x float> splat (float 0x0000000000000000), <16 x float> %t188
  store <16 x float> %t190, ptr %t7, align 4
  %t191 = fadd <16 x float> %m177, %t184
  %t192 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t191
  %t193 = select <16 x i1> %t192, <16 x float> splat (float 0x0000000000000000), <16 x float> %t191
  store <16 x float> %t193, ptr %t8, align 4
  %t194 = fadd <16 x float> %m130, %t184
  %t195 = fcmp ogt <16 x float> splat (float 0x0000000000000000), %t194
  %t196 = select <16 x i1> %t195, <16 x float> splat (float 0x0000000000000000), <16 x float> %t194
  store <16 x float> %t196, ptr %t9, align 4
  %t197 = add nuw nsw i64 %i3, 1
  %t198 = icmp ult i64 %t197, %t1
  br i1 %t198, label %loop2, label %done199
done199:
  ret void
}

define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %arg3, ptr noalias %scratch) #0 {
entry:
  %t1 = getelementptr i8, ptr %scratch, i64 0
  call void @work1(ptr %arg0, ptr %arg1, ptr %arg2, ptr %arg3, ptr %t1, i64 0, i64 3)
  ret void
}

define void @ENTRY(ptr %buffers, ptr %params, ptr %scratch) #0 {
entry:
  %t1 = load ptr, ptr %buffers, align 8
  %t2 = getelementptr i8, ptr %buffers, i64 8
  %t3 = load ptr, ptr %t2, align 8
  %t4 = getelementptr i8, ptr %buffers, i64 16
  %t5 = load ptr, ptr %t4, align 8
  %t6 = getelementptr i8, ptr %buffers, i64 24
  %t7 = load ptr, ptr %t6, align 8
  call void @main(ptr %t1, ptr %t3, ptr %t5, ptr %t7, ptr %scratch)
  ret void
}

attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
