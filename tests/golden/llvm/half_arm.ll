define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %scratch) #0 {
entry:
  %t1 = load <4 x half>, ptr %arg0, align 2
  %t2 = fpext <4 x half> %t1 to <4 x float>
  %t3 = fmul <4 x float> %t2, %t2
  %t4 = fptrunc <4 x float> %t3 to <4 x half>
  store <4 x half> %t4, ptr %arg1, align 2
  %t5 = getelementptr i8, ptr %arg0, i64 8
  %t6 = load <4 x half>, ptr %t5, align 2
  %t7 = fpext <4 x half> %t6 to <4 x float>
  %t8 = fmul <4 x float> %t7, %t7
  %t9 = fptrunc <4 x float> %t8 to <4 x half>
  %t10 = getelementptr i8, ptr %arg1, i64 8
  store <4 x half> %t9, ptr %t10, align 2
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

attributes #0 = { nounwind }
