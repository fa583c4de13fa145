define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %arg2, ptr noalias %arg3, ptr noalias %scratch) #0 {
entry:
  %t1 = load <16 x i8>, ptr %arg2, align 1
  %t2 = icmp ne <16 x i8> %t1, zeroinitializer
  %t3 = load <16 x i8>, ptr %arg0, align 1
  %t4 = sext <16 x i8> %t3 to <16 x i32>
  %t5 = load <16 x i8>, ptr %arg1, align 1
  %t6 = zext <16 x i8> %t5 to <16 x i32>
  %t7 = mul <16 x i32> %t4, %t6
  %t8 = select <16 x i1> %t2, <16 x i32> %t7, <16 x i32> splat (i32 0)
  store <16 x i32> %t8, ptr %arg3, align 4
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
