; The source of `tw_invoke`, in which runtime/invoke.py puts numbers for the names in braces.
;
; tw_invoke(self, inputs, count): `self` is an array of a header of words (the entry, the pointer
; array, the scratch block, the type of arrays, how many inputs and outputs, the most threads; of a
; network with sizes what `tw_find_sizes` takes) and a record for each of these: the array (of an
; output), its dtype object, its rank, the address of its extents, its slot.
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

; Give an array of our own the extents of its record, and what follows from them: it is as large as
; it may ever be.
define internal void @reshape(ptr %array, ptr %record) {
entry:
  %rank.word = getelementptr i64, ptr %record, i64 2
  %rank = load i64, ptr %rank.word
  %scalar = icmp eq i64 %rank, 0
  br i1 %scalar, label %done, label %dimensions
dimensions:
  %wanted.word = getelementptr i64, ptr %record, i64 3
  %wanted.extents = load ptr, ptr %wanted.word
  %extents.slot = getelementptr i8, ptr %array, i64 {extents}
  %extents = load ptr, ptr %extents.slot
  %strides.slot = getelementptr i8, ptr %array, i64 {strides}
  %strides = load ptr, ptr %strides.slot
  %last = sub i64 %rank, 1
  %element.slot = getelementptr i64, ptr %strides, i64 %last
  %element = load i64, ptr %element.slot
  br label %dimension
dimension:
  %i = phi i64 [ %last, %dimensions ], [ %i.next, %set ]
  %stride = phi i64 [ %element, %dimensions ], [ %stride.next, %set ]
  %long = phi i64 [ 0, %dimensions ], [ %long.next, %set ]
  %more = icmp sge i64 %i, 0
  br i1 %more, label %set, label %flag
set:
  %wanted.slot = getelementptr i64, ptr %wanted.extents, i64 %i
  %wanted = load i64, ptr %wanted.slot
  %extent.slot = getelementptr i64, ptr %extents, i64 %i
  store i64 %wanted, ptr %extent.slot
  %stride.slot = getelementptr i64, ptr %strides, i64 %i
  store i64 %stride, ptr %stride.slot
  %stride.next = mul i64 %stride, %wanted
  %is.long = icmp ne i64 %wanted, 1
  %is.long.64 = zext i1 %is.long to i64
  %long.next = add i64 %long, %is.long.64
  %i.next = sub i64 %i, 1
  br label %dimension
flag:
  %row = icmp sle i64 %long, 1
  %empty = icmp eq i64 %stride, 0
  %both = or i1 %row, %empty
  %columns = select i1 %both, i32 {columns}, i32 0
  %flags.slot = getelementptr i8, ptr %array, i64 {flags}
  %flags = load i32, ptr %flags.slot
  %cleared = and i32 %flags, {no_columns}
  %set.flags = or i32 %cleared, %columns
  store i32 %set.flags, ptr %flags.slot
  br label %done
done:
  ret void
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
  %sizes.word = getelementptr i64, ptr %call, i64 7
  %sizes = load ptr, ptr %sizes.word
  %sized = icmp ne ptr %sizes, null
  %right = icmp eq i64 %count, %needed
  br i1 %right, label %begin, label %answer
begin:
  br i1 %sized, label %shapes, label %array
shapes:
  %given.word = getelementptr i64, ptr %call, i64 8
  %given = load ptr, ptr %given.word
  %written.word = getelementptr i64, ptr %call, i64 9
  %written = load ptr, ptr %written.word
  br label %shape
shape:
  %n = phi i64 [ 0, %shapes ], [ %n.next, %ranked ]
  %more.shapes = icmp slt i64 %n, %needed
  br i1 %more.shapes, label %typed, label %find
typed:
  %its.slot = getelementptr ptr, ptr %inputs, i64 %n
  %its = load ptr, ptr %its.slot
  %its.type.slot = getelementptr i8, ptr %its, i64 {type}
  %its.type = load ptr, ptr %its.type.slot
  %same.type = icmp eq ptr %its.type, %type
  br i1 %same.type, label %array.shape, label %answer
array.shape:
  %its.word = mul i64 %n, {record}
  %its.record = getelementptr i64, ptr %records, i64 %its.word
  %rank.word = getelementptr i64, ptr %its.record, i64 2
  %rank = load i64, ptr %rank.word
  %its.rank.slot = getelementptr i8, ptr %its, i64 {rank}
  %its.rank = load i32, ptr %its.rank.slot
  %rank.32 = trunc i64 %rank to i32
  %same.rank = icmp eq i32 %its.rank, %rank.32
  br i1 %same.rank, label %ranked, label %answer
ranked:
  %its.extents.slot = getelementptr i8, ptr %its, i64 {extents}
  %its.extents = load ptr, ptr %its.extents.slot
  %given.slot = getelementptr ptr, ptr %given, i64 %n
  store ptr %its.extents, ptr %given.slot
  %n.next = add i64 %n, 1
  br label %shape
find:
  %wrong = call i64 @tw_find_sizes(ptr %sizes, ptr %given, ptr %scratch, ptr %written)
  %found = icmp eq i64 %wrong, 0
  br i1 %found, label %array, label %answer
array:
  %i = phi i64 [ 0, %begin ], [ 0, %find ], [ %i.next, %bound ]
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
  br i1 %sized, label %reshaped, label %whole
reshaped:
  call void @reshape(ptr %result, ptr %record)
  br label %whole
whole:
  %write = call i64 @data_of(ptr %result, ptr %record, ptr %type, i32 {writeable})
  %changed = icmp eq i64 %write, -1
  br i1 %changed, label %answer, label %bound
bound:
  %data = phi i64 [ %read, %input ], [ %write, %whole ]
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
    [ {different}, %typed ], [ {different}, %array.shape ], [ {different}, %find ],
    [ {held}, %output ], [ {held}, %made ], [ {held}, %whole ]
  %number = call ptr @PyLong_FromLong(i64 %why)
  ret ptr %number
}
