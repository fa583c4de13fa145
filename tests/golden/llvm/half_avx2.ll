define internal void @main(ptr noalias %arg0, ptr noalias %arg1, ptr noalias %scratch) #0 {
entry:
  %t1 = load <8 x half>, ptr %arg0, align 2
  %t2 = fpext <8 x half> %t1 to <8 x float>
  %t3 = fmul <8 x float> %t2, %t2
  %t4 = fptrunc <8 x float> %t3 to <8 x half>
  store <8 x half> %t4, ptr %arg1, align 2
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
