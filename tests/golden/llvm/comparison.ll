@table0 = internal constant [16 x float] [float 0x0000000000000000, float 0x3FF0000000000000, float 0x4000000000000000, float 0x4008000000000000, float 0x4010000000000000, float 0x4014000000000000, float 0x4018000000000000, float 0x401C000000000000, float 0x4020000000000000, float 0x4022000000000000, float 0x4024000000000000, float 0x4026000000000000, float 0x4028000000000000, float 0x402A000000000000, float 0x402C000000000000, float 0x402E000000000000], align 64
define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %scratch) #0 {
entry:
  %t1 = getelementptr float, ptr %arg0, i64 0
  %t2 = load <16 x float>, ptr %t1, align 4
  %t3 = shufflevector <16 x float> %t2, <16 x float> poison, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %t4 = getelementptr float, ptr %arg0, i64 15
  %t5 = load <16 x float>, ptr %t4, align 4
  %t6 = shufflevector <16 x float> %t3, <16 x float> %t5, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %t7 = load <16 x float>, ptr @table0, align 4
  %t8 = fcmp olt <16 x float> %t6, %t7
  %t9 = zext <16 x i1> %t8 to <16 x i8>
  store <16 x i8> %t9, ptr %arg1, align 1
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
