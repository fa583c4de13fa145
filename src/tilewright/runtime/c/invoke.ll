; The source of `tw_invoke`, in which runtime/invoke.py puts numbers for the names in braces.
;
; tw_invoke(self, inputs, count): `self` is an array of a header of words (the entry, the pointer
; array, the scratch block, the type of arrays, how many inputs and outputs, the most threads) and a
; record for each of these: the array (of an output), its dtype object, its rank, the address of its
; extents, its slot.
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyLong_FromLong(i64)

define internal i64 @data_of(ptr %array, ptr %record, ptr %type, i32 %wanted) {
entry:
  %type.slot = getelementptr i8, ptr %array, i64 {type}
  %its.type = load ptr, ptr %type.slot
  %same.type = icmp eq ptr %its.type, %type
  br i1 %same.type, label %layout, label %no
layout:
  %dtype.slot = getelementptr i8, ptr %array, i64 {dtype}
  %its.dtype = load ptr, ptr %dtype.slot
  %dtype.word = getelementptr i64, ptr %record, i64 1
  %dtype = load ptr, ptr %dtype.word
  %same.dtype = icmp eq ptr %its.dtype, %dtype
  %flags.slot = getelementptr i8, ptr %array, i64 {flags}
  %its.flags = load i32, ptr %flags.slot
  %those = and i32 %its.flags, %wanted
  %same.flags = icmp eq i32 %those, %wanted
  %rank.slot = getelementptr i8, ptr %array, i64 {rank}
  %its.rank = load i32, ptr %rank.slot
  %rank.word = getelementptr i64, ptr %record, i64 2
  %rank = load i64, ptr %rank.word
  %rank.32 = trunc i64 %rank to i32
  %same.rank = icmp eq i32 %its.rank, %rank.32
  %same.kind = and i1 %same.dtype, %same.flags
  %fits = and i1 %same.kind, %same.rank
  br i1 %fits, label %extents, label %no
extents:
  %extents.slot = getelementptr i8, ptr %array, i64 {extents}
  %its.extents = load ptr, ptr %extents.slot
  %extents.word = getelementptr i64, ptr %record, i64 3
  %wanted.extents = load ptr, ptr %extents.word
  br label %extent
extent:
  %i = phi i64 [ 0, %extents ], [ %i.next, %equal ]
  %more = icmp slt i64 %i, %rank
  br i1 %more, label %compare, label %yes
compare:
  %its.slot = getelementptr i64, ptr %its.extents, i64 %i
  %its = load i64, ptr %its.slot
  %wanted.slot = getelementptr i64, ptr %wanted.extents, i64 %i
  %wanted.extent = load i64, ptr %wanted.slot
  %same = icmp eq i64 %its, %wanted.extent
  br i1 %same, label %equal, label %no
equal:
  %i.next = add i64 %i, 1
  br label %extent
yes:
  %data.slot = getelementptr i8, ptr %array, i64 {data}
  %data = load i64, ptr %data.slot
  ret i64 %data
no:
  ret i64 -1
}

define internal i1 @held(ptr %array) {
entry:
  %count = load i32, ptr %array
  %one = icmp eq i32 %count, 1
  %weak.slot = getelementptr i8, ptr %array, i64 {weak}
  %weak = load ptr, ptr %weak.slot
  %no.weak = icmp eq ptr %weak, null
  %alone = and i1 %one, %no.weak
  br i1 %alone, label %owner, label %yes
owner:
  %base.slot = getelementptr i8, ptr %array, i64 {base}
  %base = load ptr, ptr %base.slot
  %owns = icmp eq ptr %base, null
  br i1 %owns, label %no, label %counted
counted:
  %owners = load i32, ptr %base
  %shared = icmp ne i32 %owners, 1
  ret i1 %shared
yes:
  ret i1 true
no:
  ret i1 false
}

define ptr @tw_invoke(ptr %self, ptr %inputs, i64 %count) {
entry:
  %call.slot = getelementptr i8, ptr %self, i64 {data}
  %call = load ptr, ptr %call.slot
  %entry.point = load ptr, ptr %call
  %pointers.word = getelementptr i64, ptr %call, i64 1
  %pointers = load ptr, ptr %pointers.word
  %scratch.word = getelementptr i64, ptr %call, i64 2
  %scratch = load ptr, ptr %scratch.word
  %type.word = getelementptr i64, ptr %call, i64 3
  %type = load ptr, ptr %type.word
  %needed.word = getelementptr i64, ptr %call, i64 4
  %needed = load i64, ptr %needed.word
  %results.word = getelementptr i64, ptr %call, i64 5
  %results = load i64, ptr %results.word
  %all = add i64 %needed, %results
  %threads.word = getelementptr i64, ptr %call, i64 6
  %threads = load i64, ptr %threads.word
  %most = trunc i64 %threads to i32
  %records = getelementptr i64, ptr %call, i64 {header}
  %right = icmp eq i64 %count, %needed
  br i1 %right, label %array, label %answer
array:
  %i = phi i64 [ 0, %entry ], [ %i.next, %bound ]
  %more = icmp slt i64 %i, %all
  br i1 %more, label %check, label %run
check:
  %word = mul i64 %i, {record}
  %record = getelementptr i64, ptr %records, i64 %word
  %is.input = icmp slt i64 %i, %needed
  br i1 %is.input, label %input, label %output
input:
  %item.slot = getelementptr ptr, ptr %inputs, i64 %i
  %item = load ptr, ptr %item.slot
  %read = call i64 @data_of(ptr %item, ptr %record, ptr %type, i32 {readable})
  %unfit = icmp eq i64 %read, -1
  br i1 %unfit, label %answer, label %bound
output:
  %result = load ptr, ptr %record
  %none = icmp eq ptr %result, null
  br i1 %none, label %answer, label %made
made:
  %is.held = call i1 @held(ptr %result)
  br i1 %is.held, label %answer, label %unheld
unheld:
  %written = call i64 @data_of(ptr %result, ptr %record, ptr %type, i32 {writeable})
  %changed = icmp eq i64 %written, -1
  br i1 %changed, label %answer, label %bound
bound:
  %data = phi i64 [ %read, %input ], [ %written, %unheld ]
  %slot.word = getelementptr i64, ptr %record, i64 4
  %slot = load i64, ptr %slot.word
  %pointer = getelementptr i64, ptr %pointers, i64 %slot
  store i64 %data, ptr %pointer
  %i.next = add i64 %i, 1
  br label %array
run:
  %thread = call ptr @PyEval_SaveThread()
  call void @tw_call(ptr %entry.point, ptr %pointers, ptr null, ptr %scratch, i32 %most)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %answer
answer:
  %why = phi i64
    [ {done}, %run ], [ {different}, %entry ], [ {different}, %input ],
    [ {held}, %output ], [ {held}, %made ], [ {held}, %unheld ]
  %number = call ptr @PyLong_FromLong(i64 %why)
  ret ptr %number
}
