
%struct.tw_caller = type { i32, i32, ptr }
%struct.timespec = type { i64, i64 }
%struct.__sigset_t = type { [16 x i64] }
%union.pthread_attr_t = type { i64, [48 x i8] }
%struct.steps = type { i64, [120 x i8] }
%struct.cpu_set_t = type { [16 x i64] }
%struct.worker = type { ptr, [16 x i64], i64, i32, i32 }
%struct.region = type { i64, ptr, ptr, i64, i64, i32, i64, i32, [68 x i8], i32, [124 x i8], i32, i32, [120 x i8], [256 x %struct.steps] }

@cores_limit = internal unnamed_addr global i32 0, align 4
@key = internal unnamed_addr global i32 0, align 4
@the_pool = internal unnamed_addr global ptr null, align 8
@__const.tw_parallel.unknown = private unnamed_addr constant %struct.tw_caller { i32 256, i32 0, ptr null }, align 8
@inherited = internal unnamed_addr global i32 0, align 4
@new_pool.claimed = internal global i32 0, align 4
@__const.worker.caller = private unnamed_addr constant %struct.tw_caller { i32 0, i32 1, ptr null }, align 8

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: none, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define void @tw_limit_cores(i32 noundef %0) local_unnamed_addr #0 {
  store atomic i32 %0, ptr @cores_limit seq_cst, align 4
  ret void
}

; Function Attrs: nounwind
define void @tw_enter(ptr noundef initializes((0, 16)) %0, i32 noundef %1) local_unnamed_addr #1 {
  %3 = tail call fastcc ptr @ready_pool()
  store i32 %1, ptr %0, align 8
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 4
  store i32 0, ptr %4, align 4
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 8
  store ptr null, ptr %5, align 8
  %6 = icmp eq ptr %3, null
  br i1 %6, label %22, label %7

7:                                                ; preds = %2
  %8 = load i32, ptr @key, align 4
  %9 = tail call ptr @pthread_getspecific(i32 noundef %8) #7
  store ptr %9, ptr %5, align 8
  %10 = icmp eq ptr %9, null
  br i1 %10, label %14, label %11

11:                                               ; preds = %7
  %12 = getelementptr inbounds nuw i8, ptr %9, i64 4
  %13 = load i32, ptr %12, align 4
  store i32 %13, ptr %4, align 4
  br label %14

14:                                               ; preds = %11, %7
  %15 = load i32, ptr @key, align 4
  %16 = tail call i32 @pthread_setspecific(i32 noundef %15, ptr noundef nonnull %0) #7
  %17 = load ptr, ptr %5, align 8
  %18 = icmp eq ptr %17, null
  br i1 %18, label %19, label %22

19:                                               ; preds = %14
  %20 = getelementptr inbounds nuw i8, ptr %3, i64 256
  %21 = atomicrmw add ptr %20, i32 1 monotonic, align 128
  br label %22

22:                                               ; preds = %14, %19, %2
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #2

; Function Attrs: nounwind
define internal fastcc ptr @ready_pool() unnamed_addr #1 {
  %1 = alloca i32, align 4
  %2 = load atomic i64, ptr @the_pool acquire, align 8
  %3 = icmp eq i64 %2, 0
  br i1 %3, label %4, label %32

4:                                                ; preds = %0
  %5 = tail call ptr @mmap(ptr noundef null, i64 noundef 531200, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) #7
  %6 = icmp eq ptr %5, inttoptr (i64 -1 to ptr)
  br i1 %6, label %75, label %7

7:                                                ; preds = %4
  %8 = tail call i32 @madvise(ptr noundef %5, i64 noundef 531200, i32 noundef 18) #7
  %9 = icmp ne i32 %8, 0
  %10 = zext i1 %9 to i32
  call void @llvm.lifetime.start.p0(ptr nonnull %1) #7
  %11 = call i32 @pthread_key_create(ptr noundef nonnull %1, ptr noundef null) #7
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %15, label %13

13:                                               ; preds = %7
  %14 = call i32 @munmap(ptr noundef %5, i64 noundef 531200) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #7
  br label %75

15:                                               ; preds = %7
  %16 = atomicrmw xchg ptr @new_pool.claimed, i32 1 seq_cst, align 4
  %17 = icmp eq i32 %16, 0
  %18 = load i32, ptr %1, align 4
  br i1 %17, label %29, label %19

19:                                               ; preds = %15
  %20 = call i32 @pthread_key_delete(i32 noundef %18) #7
  %21 = call i32 @munmap(ptr noundef %5, i64 noundef 531200) #7
  %22 = load atomic i64, ptr @the_pool seq_cst, align 8
  %23 = icmp eq i64 %22, 0
  br i1 %23, label %24, label %27

24:                                               ; preds = %19, %24
  call void @llvm.x86.sse2.pause()
  %25 = load atomic i64, ptr @the_pool seq_cst, align 8
  %26 = icmp eq i64 %25, 0
  br i1 %26, label %24, label %27

27:                                               ; preds = %24, %19
  %28 = phi i64 [ %22, %19 ], [ %25, %24 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #7
  br label %32

29:                                               ; preds = %15
  store i32 %18, ptr @key, align 4
  store i32 %10, ptr @inherited, align 4
  %30 = ptrtoint ptr %5 to i64
  store atomic i64 %30, ptr @the_pool seq_cst, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #7
  %31 = icmp eq ptr %5, null
  br i1 %31, label %75, label %36

32:                                               ; preds = %0, %27
  %33 = phi i64 [ %28, %27 ], [ %2, %0 ]
  %34 = inttoptr i64 %33 to ptr
  %35 = load i32, ptr @inherited, align 4
  br label %36

36:                                               ; preds = %32, %29
  %37 = phi i32 [ %35, %32 ], [ %10, %29 ]
  %38 = phi ptr [ %34, %32 ], [ %5, %29 ]
  %39 = icmp eq i32 %37, 0
  br i1 %39, label %48, label %40

40:                                               ; preds = %36
  %41 = getelementptr inbounds nuw i8, ptr %38, i64 136
  %42 = load i32, ptr %41, align 8
  %43 = icmp eq i32 %42, 0
  br i1 %43, label %48, label %44

44:                                               ; preds = %40
  %45 = call i32 @getpid() #7
  %46 = icmp eq i32 %42, %45
  br i1 %46, label %48, label %47

47:                                               ; preds = %44
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 128 dereferenceable(531200) %38, i8 0, i64 531200, i1 false)
  br label %48

48:                                               ; preds = %47, %44, %40, %36
  %49 = load atomic i32, ptr %38 acquire, align 128
  %50 = icmp eq i32 %49, 2
  br i1 %50, label %75, label %51

51:                                               ; preds = %48
  %52 = cmpxchg ptr %38, i32 0, i32 1 seq_cst seq_cst, align 128
  %53 = extractvalue { i32, i1 } %52, 1
  br i1 %53, label %54, label %75

54:                                               ; preds = %51
  %55 = getelementptr inbounds nuw i8, ptr %38, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %55, i8 0, i64 128, i1 false)
  %56 = call i32 @sched_getaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %55) #7
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %58, label %60

58:                                               ; preds = %54
  %59 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %55) #7
  br label %60

60:                                               ; preds = %54, %58
  %61 = phi i32 [ %59, %58 ], [ 256, %54 ]
  %62 = load atomic i32, ptr @cores_limit seq_cst, align 4
  %63 = icmp sgt i32 %62, 0
  %64 = call i32 @llvm.smin.i32(i32 %62, i32 %61)
  %65 = select i1 %63, i32 %64, i32 %61
  %66 = call range(i32 -2147483648, 257) i32 @llvm.smin.i32(i32 %65, i32 256)
  %67 = getelementptr inbounds nuw i8, ptr %38, i64 4
  store i32 %66, ptr %67, align 4
  %68 = call i32 @getpid() #7
  %69 = getelementptr inbounds nuw i8, ptr %38, i64 136
  store i32 %68, ptr %69, align 8
  %70 = getelementptr inbounds nuw i8, ptr %38, i64 144
  %71 = load i32, ptr %67, align 4
  %72 = add nsw i32 %71, -1
  store atomic i32 %72, ptr %70 seq_cst, align 16
  %73 = getelementptr inbounds nuw i8, ptr %38, i64 160
  store atomic i64 250, ptr %73 seq_cst, align 32
  %74 = getelementptr inbounds nuw i8, ptr %38, i64 168
  store atomic i64 30000, ptr %74 seq_cst, align 8
  store atomic i32 2, ptr %38 seq_cst, align 128
  br label %75

75:                                               ; preds = %4, %13, %60, %51, %48, %29
  %76 = phi ptr [ %38, %48 ], [ null, %29 ], [ %38, %60 ], [ null, %51 ], [ null, %13 ], [ null, %4 ]
  ret ptr %76
}

; Function Attrs: nounwind
declare ptr @pthread_getspecific(i32 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @pthread_setspecific(i32 noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #2

; Function Attrs: nounwind
define void @tw_leave(ptr noundef readonly captures(address) %0) local_unnamed_addr #1 {
  %2 = load atomic i64, ptr @the_pool acquire, align 8
  %3 = inttoptr i64 %2 to ptr
  %4 = icmp eq i64 %2, 0
  br i1 %4, label %19, label %5

5:                                                ; preds = %1
  %6 = load i32, ptr @key, align 4
  %7 = tail call ptr @pthread_getspecific(i32 noundef %6) #7
  %8 = icmp eq ptr %7, %0
  br i1 %8, label %9, label %19

9:                                                ; preds = %5
  %10 = load i32, ptr @key, align 4
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %12 = load ptr, ptr %11, align 8
  %13 = tail call i32 @pthread_setspecific(i32 noundef %10, ptr noundef %12) #7
  %14 = load ptr, ptr %11, align 8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %16, label %19

16:                                               ; preds = %9
  %17 = getelementptr inbounds nuw i8, ptr %3, i64 256
  %18 = atomicrmw sub ptr %17, i32 1 monotonic, align 128
  br label %19

19:                                               ; preds = %9, %16, %1, %5
  ret void
}

; Function Attrs: nounwind
define void @tw_parallel(ptr noundef %0, ptr noundef %1, i64 noundef %2, i64 noundef %3, i32 noundef %4, ptr noundef captures(address_is_null) %5) local_unnamed_addr #1 {
  %7 = alloca %struct.timespec, align 8
  %8 = alloca %struct.timespec, align 8
  %9 = alloca %struct.timespec, align 8
  %10 = alloca %struct.timespec, align 8
  %11 = alloca %struct.__sigset_t, align 8
  %12 = alloca %struct.__sigset_t, align 8
  %13 = alloca %union.pthread_attr_t, align 8
  %14 = alloca i64, align 8
  %15 = alloca %struct.timespec, align 8
  %16 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %16) #7
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %16, ptr noundef nonnull align 8 dereferenceable(16) @__const.tw_parallel.unknown, i64 16, i1 false)
  %17 = tail call fastcc ptr @ready_pool()
  %18 = icmp eq ptr %17, null
  br i1 %18, label %46, label %19

19:                                               ; preds = %6
  %20 = load i32, ptr @key, align 4
  %21 = tail call ptr @pthread_getspecific(i32 noundef %20) #7
  %22 = icmp eq ptr %21, null
  br i1 %22, label %23, label %26

23:                                               ; preds = %19
  %24 = load i32, ptr @key, align 4
  %25 = call i32 @pthread_setspecific(i32 noundef %24, ptr noundef nonnull %16) #7
  br label %26

26:                                               ; preds = %23, %19
  %27 = icmp ne ptr %21, null
  %28 = select i1 %27, ptr %21, ptr %16
  %29 = load i32, ptr %28, align 8
  %30 = call i32 @llvm.smin.i32(i32 %4, i32 %29)
  %31 = sext i32 %30 to i64
  %32 = add i64 %2, -1
  %33 = add i64 %32, %3
  %34 = sdiv i64 %33, %3
  %35 = call i64 @llvm.smin.i64(i64 %34, i64 %31)
  %36 = trunc i64 %35 to i32
  %37 = getelementptr inbounds nuw i8, ptr %17, i64 4
  %38 = load i32, ptr %37, align 4
  %39 = call i32 @llvm.smin.i32(i32 %38, i32 %36)
  %40 = icmp slt i32 %39, 2
  br i1 %40, label %46, label %41

41:                                               ; preds = %26
  %42 = select i1 %27, ptr %21, ptr %16
  %43 = getelementptr inbounds nuw i8, ptr %42, i64 4
  %44 = load i32, ptr %43, align 4
  %45 = icmp eq i32 %44, 0
  br i1 %45, label %52, label %46

46:                                               ; preds = %6, %41, %26
  %47 = phi i1 [ %27, %26 ], [ %27, %41 ], [ false, %6 ]
  %48 = phi ptr [ %21, %26 ], [ %21, %41 ], [ null, %6 ]
  %49 = select i1 %47, ptr %48, ptr %16
  %50 = getelementptr inbounds nuw i8, ptr %49, i64 4
  %51 = load i32, ptr %50, align 4
  store i32 1, ptr %50, align 4
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #7
  store i32 %51, ptr %50, align 4
  br label %514

52:                                               ; preds = %41
  call void @llvm.lifetime.start.p0(ptr nonnull %15) #7
  %53 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %15) #7
  %54 = load i64, ptr %15, align 8
  %55 = mul nsw i64 %54, 1000000000
  %56 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %57 = load i64, ptr %56, align 8
  %58 = add nsw i64 %55, %57
  call void @llvm.lifetime.end.p0(ptr nonnull %15) #7
  %59 = icmp eq ptr %5, null
  br i1 %59, label %62, label %60

60:                                               ; preds = %52
  %61 = load atomic i64, ptr %5 monotonic, align 8
  br label %62

62:                                               ; preds = %60, %52
  %63 = phi i64 [ %61, %60 ], [ 0, %52 ]
  %64 = getelementptr inbounds nuw i8, ptr %17, i64 160
  %65 = load atomic i64, ptr %64 monotonic, align 32
  %66 = getelementptr inbounds nuw i8, ptr %17, i64 256
  %67 = load atomic i32, ptr %66 monotonic, align 128
  %68 = load i32, ptr %37, align 4
  %69 = icmp slt i32 %67, %68
  br i1 %69, label %70, label %294

70:                                               ; preds = %62
  %71 = icmp sgt i64 %63, 0
  %72 = shl nsw i64 %65, 2
  %73 = icmp slt i64 %63, %72
  %74 = select i1 %71, i1 %73, i1 false
  br i1 %74, label %75, label %79

75:                                               ; preds = %70
  %76 = load atomic i64, ptr %64 monotonic, align 8
  %77 = sdiv i64 %76, -256
  %78 = add i64 %77, %76
  store atomic i64 %78, ptr %64 monotonic, align 8
  br label %294

79:                                               ; preds = %70
  %80 = getelementptr inbounds nuw i8, ptr %17, i64 144
  %81 = load atomic i32, ptr %80 monotonic, align 16
  %82 = add nsw i32 %39, -1
  %83 = call i32 @llvm.smin.i32(i32 %82, i32 %81)
  %84 = getelementptr inbounds nuw i8, ptr %17, i64 140
  %85 = load atomic i32, ptr %84 monotonic, align 4
  %86 = icmp slt i32 %85, %83
  br i1 %86, label %87, label %113

87:                                               ; preds = %79
  %88 = getelementptr inbounds nuw i8, ptr %17, i64 148
  %89 = atomicrmw xchg ptr %88, i32 1 seq_cst, align 4
  %90 = icmp eq i32 %89, 0
  br i1 %90, label %91, label %113

91:                                               ; preds = %87
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #7
  %92 = call i32 @sigfillset(ptr noundef nonnull %11) #7
  %93 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %11, ptr noundef nonnull %12) #7
  %94 = call i32 @pthread_attr_init(ptr noundef nonnull %13) #7
  %95 = call i32 @pthread_attr_setdetachstate(ptr noundef nonnull %13, i32 noundef 1) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #7
  %96 = load atomic i32, ptr %84 seq_cst, align 4
  %97 = icmp slt i32 %96, %83
  br i1 %97, label %98, label %110

98:                                               ; preds = %91, %106
  %99 = phi i32 [ %107, %106 ], [ %83, %91 ]
  %100 = call i32 @pthread_create(ptr noundef nonnull %14, ptr noundef nonnull %13, ptr noundef nonnull @worker, ptr noundef nonnull %17) #7
  %101 = icmp eq i32 %100, 0
  br i1 %101, label %102, label %104

102:                                              ; preds = %98
  %103 = atomicrmw add ptr %84, i32 1 seq_cst, align 4
  br label %106

104:                                              ; preds = %98
  %105 = load atomic i32, ptr %84 seq_cst, align 4
  store atomic i32 %105, ptr %80 seq_cst, align 16
  br label %106

106:                                              ; preds = %104, %102
  %107 = phi i32 [ %99, %102 ], [ %105, %104 ]
  %108 = load atomic i32, ptr %84 seq_cst, align 4
  %109 = icmp slt i32 %108, %107
  br i1 %109, label %98, label %110

110:                                              ; preds = %106, %91
  %111 = call i32 @pthread_attr_destroy(ptr noundef nonnull %13) #7
  %112 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %12, ptr noundef null) #7
  store atomic i32 0, ptr %88 seq_cst, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #7
  br label %113

113:                                              ; preds = %110, %87, %79
  %114 = getelementptr inbounds nuw i8, ptr %17, i64 512
  %115 = load atomic i32, ptr %114 monotonic, align 128
  %116 = load atomic i32, ptr %84 monotonic, align 4
  %117 = sub nsw i32 %116, %115
  %118 = sub nsw i32 %83, %117
  %119 = icmp sgt i32 %118, 0
  %120 = icmp sgt i32 %115, 0
  %121 = and i1 %120, %119
  br i1 %121, label %122, label %150

122:                                              ; preds = %113
  %123 = getelementptr inbounds nuw i8, ptr %17, i64 168
  %124 = load atomic i64, ptr %123 monotonic, align 8
  %125 = shl nsw i64 %124, 1
  %126 = icmp eq i64 %63, 0
  %127 = icmp sgt i64 %63, %125
  %128 = select i1 %126, i1 true, i1 %127
  br i1 %128, label %147, label %129

129:                                              ; preds = %122
  %130 = load atomic i64, ptr %123 monotonic, align 8
  %131 = sdiv i64 %130, -256
  %132 = add i64 %131, %130
  store atomic i64 %132, ptr %123 monotonic, align 8
  %133 = getelementptr inbounds nuw i8, ptr %17, i64 184
  %134 = load atomic i64, ptr %133 monotonic, align 8
  %135 = sub nsw i64 %58, %134
  %136 = icmp sgt i64 %135, 100000
  br i1 %136, label %140, label %137

137:                                              ; preds = %129
  %138 = getelementptr inbounds nuw i8, ptr %17, i64 176
  %139 = load atomic i64, ptr %138 monotonic, align 16
  br label %140

140:                                              ; preds = %137, %129
  %141 = phi i64 [ %139, %137 ], [ 0, %129 ]
  %142 = add nsw i64 %141, %63
  %143 = icmp sgt i64 %142, %125
  %144 = getelementptr inbounds nuw i8, ptr %17, i64 176
  %145 = select i1 %143, i64 0, i64 %142
  store atomic i64 %145, ptr %144 monotonic, align 16
  %146 = add nsw i64 %63, %58
  store atomic i64 %146, ptr %133 monotonic, align 8
  br i1 %143, label %147, label %150

147:                                              ; preds = %140, %122
  %148 = icmp samesign ult i32 %118, 2
  %149 = select i1 %148, i32 1, i32 2
  br label %152

150:                                              ; preds = %140, %113
  %151 = icmp slt i32 %117, 1
  br i1 %151, label %294, label %152

152:                                              ; preds = %150, %147
  %153 = phi i32 [ %149, %147 ], [ 0, %150 ]
  %154 = getelementptr inbounds nuw i8, ptr %17, i64 1024
  %155 = load atomic i32, ptr %154 monotonic, align 128
  %156 = icmp eq i32 %155, 0
  br i1 %156, label %157, label %174

157:                                              ; preds = %152
  %158 = getelementptr inbounds nuw i8, ptr %17, i64 768
  %159 = atomicrmw xchg ptr %154, i32 1 acquire, align 128
  %160 = icmp eq i32 %159, 0
  br i1 %160, label %161, label %174

161:                                              ; preds = %290, %282, %274, %266, %258, %250, %242, %234, %226, %218, %210, %202, %194, %186, %178, %157
  %162 = phi i32 [ 0, %157 ], [ 1, %178 ], [ 2, %186 ], [ 3, %194 ], [ 4, %202 ], [ 5, %210 ], [ 6, %218 ], [ 7, %226 ], [ 8, %234 ], [ 9, %242 ], [ 10, %250 ], [ 11, %258 ], [ 12, %266 ], [ 13, %274 ], [ 14, %282 ], [ 15, %290 ]
  %163 = phi ptr [ %158, %157 ], [ %179, %178 ], [ %187, %186 ], [ %195, %194 ], [ %203, %202 ], [ %211, %210 ], [ %219, %218 ], [ %227, %226 ], [ %235, %234 ], [ %243, %242 ], [ %251, %250 ], [ %259, %258 ], [ %267, %266 ], [ %275, %274 ], [ %283, %282 ], [ %291, %290 ]
  %164 = getelementptr inbounds nuw i8, ptr %17, i64 152
  %165 = load atomic i32, ptr %164 seq_cst, align 8
  %166 = add nuw nsw i32 %162, 1
  br label %167

167:                                              ; preds = %170, %161
  %168 = phi i32 [ %165, %161 ], [ %173, %170 ]
  %169 = icmp sgt i32 %168, %162
  br i1 %169, label %303, label %170

170:                                              ; preds = %167
  %171 = cmpxchg weak ptr %164, i32 %168, i32 %166 seq_cst seq_cst, align 8
  %172 = extractvalue { i32, i1 } %171, 1
  %173 = extractvalue { i32, i1 } %171, 0
  br i1 %172, label %303, label %167

174:                                              ; preds = %157, %152
  %175 = getelementptr inbounds nuw i8, ptr %17, i64 34176
  %176 = load atomic i32, ptr %175 monotonic, align 128
  %177 = icmp eq i32 %176, 0
  br i1 %177, label %178, label %182

178:                                              ; preds = %174
  %179 = getelementptr inbounds nuw i8, ptr %17, i64 33920
  %180 = atomicrmw xchg ptr %175, i32 1 acquire, align 128
  %181 = icmp eq i32 %180, 0
  br i1 %181, label %161, label %182

182:                                              ; preds = %178, %174
  %183 = getelementptr inbounds nuw i8, ptr %17, i64 67328
  %184 = load atomic i32, ptr %183 monotonic, align 128
  %185 = icmp eq i32 %184, 0
  br i1 %185, label %186, label %190

186:                                              ; preds = %182
  %187 = getelementptr inbounds nuw i8, ptr %17, i64 67072
  %188 = atomicrmw xchg ptr %183, i32 1 acquire, align 128
  %189 = icmp eq i32 %188, 0
  br i1 %189, label %161, label %190

190:                                              ; preds = %186, %182
  %191 = getelementptr inbounds nuw i8, ptr %17, i64 100480
  %192 = load atomic i32, ptr %191 monotonic, align 128
  %193 = icmp eq i32 %192, 0
  br i1 %193, label %194, label %198

194:                                              ; preds = %190
  %195 = getelementptr inbounds nuw i8, ptr %17, i64 100224
  %196 = atomicrmw xchg ptr %191, i32 1 acquire, align 128
  %197 = icmp eq i32 %196, 0
  br i1 %197, label %161, label %198

198:                                              ; preds = %194, %190
  %199 = getelementptr inbounds nuw i8, ptr %17, i64 133632
  %200 = load atomic i32, ptr %199 monotonic, align 128
  %201 = icmp eq i32 %200, 0
  br i1 %201, label %202, label %206

202:                                              ; preds = %198
  %203 = getelementptr inbounds nuw i8, ptr %17, i64 133376
  %204 = atomicrmw xchg ptr %199, i32 1 acquire, align 128
  %205 = icmp eq i32 %204, 0
  br i1 %205, label %161, label %206

206:                                              ; preds = %202, %198
  %207 = getelementptr inbounds nuw i8, ptr %17, i64 166784
  %208 = load atomic i32, ptr %207 monotonic, align 128
  %209 = icmp eq i32 %208, 0
  br i1 %209, label %210, label %214

210:                                              ; preds = %206
  %211 = getelementptr inbounds nuw i8, ptr %17, i64 166528
  %212 = atomicrmw xchg ptr %207, i32 1 acquire, align 128
  %213 = icmp eq i32 %212, 0
  br i1 %213, label %161, label %214

214:                                              ; preds = %210, %206
  %215 = getelementptr inbounds nuw i8, ptr %17, i64 199936
  %216 = load atomic i32, ptr %215 monotonic, align 128
  %217 = icmp eq i32 %216, 0
  br i1 %217, label %218, label %222

218:                                              ; preds = %214
  %219 = getelementptr inbounds nuw i8, ptr %17, i64 199680
  %220 = atomicrmw xchg ptr %215, i32 1 acquire, align 128
  %221 = icmp eq i32 %220, 0
  br i1 %221, label %161, label %222

222:                                              ; preds = %218, %214
  %223 = getelementptr inbounds nuw i8, ptr %17, i64 233088
  %224 = load atomic i32, ptr %223 monotonic, align 128
  %225 = icmp eq i32 %224, 0
  br i1 %225, label %226, label %230

226:                                              ; preds = %222
  %227 = getelementptr inbounds nuw i8, ptr %17, i64 232832
  %228 = atomicrmw xchg ptr %223, i32 1 acquire, align 128
  %229 = icmp eq i32 %228, 0
  br i1 %229, label %161, label %230

230:                                              ; preds = %226, %222
  %231 = getelementptr inbounds nuw i8, ptr %17, i64 266240
  %232 = load atomic i32, ptr %231 monotonic, align 128
  %233 = icmp eq i32 %232, 0
  br i1 %233, label %234, label %238

234:                                              ; preds = %230
  %235 = getelementptr inbounds nuw i8, ptr %17, i64 265984
  %236 = atomicrmw xchg ptr %231, i32 1 acquire, align 128
  %237 = icmp eq i32 %236, 0
  br i1 %237, label %161, label %238

238:                                              ; preds = %234, %230
  %239 = getelementptr inbounds nuw i8, ptr %17, i64 299392
  %240 = load atomic i32, ptr %239 monotonic, align 128
  %241 = icmp eq i32 %240, 0
  br i1 %241, label %242, label %246

242:                                              ; preds = %238
  %243 = getelementptr inbounds nuw i8, ptr %17, i64 299136
  %244 = atomicrmw xchg ptr %239, i32 1 acquire, align 128
  %245 = icmp eq i32 %244, 0
  br i1 %245, label %161, label %246

246:                                              ; preds = %242, %238
  %247 = getelementptr inbounds nuw i8, ptr %17, i64 332544
  %248 = load atomic i32, ptr %247 monotonic, align 128
  %249 = icmp eq i32 %248, 0
  br i1 %249, label %250, label %254

250:                                              ; preds = %246
  %251 = getelementptr inbounds nuw i8, ptr %17, i64 332288
  %252 = atomicrmw xchg ptr %247, i32 1 acquire, align 128
  %253 = icmp eq i32 %252, 0
  br i1 %253, label %161, label %254

254:                                              ; preds = %250, %246
  %255 = getelementptr inbounds nuw i8, ptr %17, i64 365696
  %256 = load atomic i32, ptr %255 monotonic, align 128
  %257 = icmp eq i32 %256, 0
  br i1 %257, label %258, label %262

258:                                              ; preds = %254
  %259 = getelementptr inbounds nuw i8, ptr %17, i64 365440
  %260 = atomicrmw xchg ptr %255, i32 1 acquire, align 128
  %261 = icmp eq i32 %260, 0
  br i1 %261, label %161, label %262

262:                                              ; preds = %258, %254
  %263 = getelementptr inbounds nuw i8, ptr %17, i64 398848
  %264 = load atomic i32, ptr %263 monotonic, align 128
  %265 = icmp eq i32 %264, 0
  br i1 %265, label %266, label %270

266:                                              ; preds = %262
  %267 = getelementptr inbounds nuw i8, ptr %17, i64 398592
  %268 = atomicrmw xchg ptr %263, i32 1 acquire, align 128
  %269 = icmp eq i32 %268, 0
  br i1 %269, label %161, label %270

270:                                              ; preds = %266, %262
  %271 = getelementptr inbounds nuw i8, ptr %17, i64 432000
  %272 = load atomic i32, ptr %271 monotonic, align 128
  %273 = icmp eq i32 %272, 0
  br i1 %273, label %274, label %278

274:                                              ; preds = %270
  %275 = getelementptr inbounds nuw i8, ptr %17, i64 431744
  %276 = atomicrmw xchg ptr %271, i32 1 acquire, align 128
  %277 = icmp eq i32 %276, 0
  br i1 %277, label %161, label %278

278:                                              ; preds = %274, %270
  %279 = getelementptr inbounds nuw i8, ptr %17, i64 465152
  %280 = load atomic i32, ptr %279 monotonic, align 128
  %281 = icmp eq i32 %280, 0
  br i1 %281, label %282, label %286

282:                                              ; preds = %278
  %283 = getelementptr inbounds nuw i8, ptr %17, i64 464896
  %284 = atomicrmw xchg ptr %279, i32 1 acquire, align 128
  %285 = icmp eq i32 %284, 0
  br i1 %285, label %161, label %286

286:                                              ; preds = %282, %278
  %287 = getelementptr inbounds nuw i8, ptr %17, i64 498304
  %288 = load atomic i32, ptr %287 monotonic, align 128
  %289 = icmp eq i32 %288, 0
  br i1 %289, label %290, label %294

290:                                              ; preds = %286
  %291 = getelementptr inbounds nuw i8, ptr %17, i64 498048
  %292 = atomicrmw xchg ptr %287, i32 1 acquire, align 128
  %293 = icmp eq i32 %292, 0
  br i1 %293, label %161, label %294

294:                                              ; preds = %290, %286, %150, %75, %62
  %295 = load i32, ptr %43, align 4
  store i32 1, ptr %43, align 4
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #7
  store i32 %295, ptr %43, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #7
  %296 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #7
  %297 = load i64, ptr %10, align 8
  %298 = mul nsw i64 %297, 1000000000
  %299 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %300 = load i64, ptr %299, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #7
  %301 = sub i64 %300, %58
  %302 = add i64 %301, %298
  br label %499

303:                                              ; preds = %170, %167
  %304 = getelementptr inbounds nuw i8, ptr %163, i64 260
  %305 = load i32, ptr %304, align 4
  %306 = add i32 %305, 1
  store i32 %306, ptr %304, align 4
  %307 = icmp eq i32 %306, 0
  br i1 %307, label %308, label %309

308:                                              ; preds = %303
  store i32 1, ptr %304, align 4
  br label %312

309:                                              ; preds = %303
  %310 = zext i32 %306 to i64
  %311 = shl nuw i64 %310, 32
  br label %312

312:                                              ; preds = %309, %308
  %313 = phi i64 [ 4294967296, %308 ], [ %311, %309 ]
  %314 = getelementptr inbounds nuw i8, ptr %163, i64 8
  store ptr %0, ptr %314, align 8
  %315 = getelementptr inbounds nuw i8, ptr %163, i64 16
  store ptr %1, ptr %315, align 16
  %316 = getelementptr inbounds nuw i8, ptr %163, i64 24
  store i64 %2, ptr %316, align 8
  %317 = getelementptr inbounds nuw i8, ptr %163, i64 32
  store i64 %3, ptr %317, align 32
  %318 = getelementptr inbounds nuw i8, ptr %163, i64 40
  store i32 0, ptr %318, align 8
  %319 = getelementptr inbounds nuw i8, ptr %163, i64 48
  store atomic i64 %58, ptr %319 monotonic, align 16
  %320 = getelementptr inbounds nuw i8, ptr %163, i64 56
  %321 = call i32 @sched_getcpu() #7
  store atomic i32 %321, ptr %320 monotonic, align 8
  %322 = getelementptr inbounds nuw i8, ptr %163, i64 128
  store atomic i32 0, ptr %322 monotonic, align 128
  %323 = zext nneg i32 %39 to i128
  %324 = getelementptr inbounds nuw i8, ptr %163, i64 384
  %325 = zext nneg i32 %39 to i64
  %326 = load i64, ptr %316, align 8
  %327 = load i32, ptr %318, align 8
  %328 = sext i64 %326 to i128
  br label %329

329:                                              ; preds = %329, %312
  %330 = phi i32 [ %327, %312 ], [ %343, %329 ]
  %331 = phi i64 [ 0, %312 ], [ %333, %329 ]
  %332 = phi i64 [ 0, %312 ], [ %337, %329 ]
  %333 = add nuw nsw i64 %331, 1
  %334 = zext nneg i64 %333 to i128
  %335 = mul nsw i128 %334, %328
  %336 = sdiv i128 %335, %323
  %337 = trunc i128 %336 to i64
  %338 = xor i64 %332, -1
  %339 = add i64 %3, %338
  %340 = add i64 %339, %337
  %341 = sdiv i64 %340, %3
  %342 = trunc i64 %341 to i32
  %343 = add i32 %330, %342
  store i32 %343, ptr %318, align 8
  %344 = getelementptr inbounds nuw %struct.steps, ptr %324, i64 %331
  %345 = and i64 %341, 4294967295
  %346 = or disjoint i64 %345, %313
  store atomic i64 %346, ptr %344 release, align 128
  %347 = icmp eq i64 %333, %325
  br i1 %347, label %348, label %329

348:                                              ; preds = %329
  %349 = shl i32 %39, 16
  %350 = or disjoint i32 %349, 1
  %351 = zext i32 %350 to i64
  %352 = or disjoint i64 %313, %351
  store atomic i64 %352, ptr %163 release, align 128
  %353 = load i32, ptr %304, align 4
  %354 = load atomic i64, ptr %163 monotonic, align 128
  %355 = trunc i64 %354 to i32
  %356 = lshr i32 %355, 16
  %357 = icmp eq i32 %153, 0
  br i1 %357, label %370, label %358

358:                                              ; preds = %348
  %359 = getelementptr inbounds nuw i8, ptr %17, i64 644
  %360 = call i32 @sched_getcpu() #7
  store atomic i32 %360, ptr %359 monotonic, align 4
  %361 = getelementptr inbounds nuw i8, ptr %17, i64 640
  %362 = atomicrmw add ptr %361, i32 1 seq_cst, align 128
  %363 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %361, i32 noundef 129, i32 noundef range(i32 1, 3) %153, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #7
  %364 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %9) #7
  %365 = load i64, ptr %9, align 8
  %366 = mul nsw i64 %365, 1000000000
  %367 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %368 = load i64, ptr %367, align 8
  %369 = add nsw i64 %366, %368
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #7
  br label %370

370:                                              ; preds = %358, %348
  %371 = phi i64 [ %369, %358 ], [ %58, %348 ]
  store i32 1, ptr %43, align 4
  %372 = icmp eq i32 %356, 0
  br i1 %372, label %373, label %374

373:                                              ; preds = %370
  store i32 0, ptr %43, align 4
  br label %448

374:                                              ; preds = %370
  %375 = zext i32 %353 to i64
  %376 = zext nneg i32 %356 to i128
  %377 = zext nneg i32 %356 to i64
  br label %378

378:                                              ; preds = %432, %374
  %379 = phi i64 [ %384, %432 ], [ 0, %374 ]
  %380 = phi i32 [ %390, %432 ], [ 0, %374 ]
  %381 = getelementptr inbounds nuw %struct.steps, ptr %324, i64 %379
  %382 = load atomic i64, ptr %381 acquire, align 8
  %383 = zext nneg i64 %379 to i128
  %384 = add nuw nsw i64 %379, 1
  %385 = zext nneg i64 %384 to i128
  br label %386

386:                                              ; preds = %414, %378
  %387 = phi i64 [ %415, %414 ], [ -1, %378 ]
  %388 = phi i64 [ %416, %414 ], [ 0, %378 ]
  %389 = phi i64 [ %431, %414 ], [ %382, %378 ]
  %390 = phi i32 [ %430, %414 ], [ %380, %378 ]
  br label %391

391:                                              ; preds = %398, %386
  %392 = phi i64 [ %402, %398 ], [ %389, %386 ]
  %393 = lshr i64 %392, 32
  %394 = icmp ne i64 %393, %375
  %395 = and i64 %392, 4294967295
  %396 = icmp eq i64 %395, 0
  %397 = or i1 %394, %396
  br i1 %397, label %432, label %398

398:                                              ; preds = %391
  %399 = add i64 %392, -1
  %400 = cmpxchg weak ptr %381, i64 %392, i64 %399 acq_rel acquire, align 8
  %401 = extractvalue { i64, i1 } %400, 1
  %402 = extractvalue { i64, i1 } %400, 0
  br i1 %401, label %403, label %391

403:                                              ; preds = %398
  %404 = icmp slt i64 %387, 0
  br i1 %404, label %405, label %414

405:                                              ; preds = %403
  %406 = load i64, ptr %316, align 8
  %407 = sext i64 %406 to i128
  %408 = mul nsw i128 %407, %383
  %409 = sdiv i128 %408, %376
  %410 = trunc i128 %409 to i64
  %411 = mul nsw i128 %407, %385
  %412 = sdiv i128 %411, %376
  %413 = trunc i128 %412 to i64
  br label %414

414:                                              ; preds = %405, %403
  %415 = phi i64 [ %413, %405 ], [ %387, %403 ]
  %416 = phi i64 [ %410, %405 ], [ %388, %403 ]
  %417 = load i64, ptr %317, align 32
  %418 = xor i64 %416, -1
  %419 = add i64 %415, %418
  %420 = add i64 %419, %417
  %421 = sdiv i64 %420, %417
  %422 = sub i64 %421, %392
  %423 = and i64 %422, 4294967295
  %424 = mul nsw i64 %423, %417
  %425 = add nsw i64 %424, %416
  %426 = add nsw i64 %425, %417
  %427 = call i64 @llvm.smin.i64(i64 %426, i64 %415)
  %428 = load ptr, ptr %314, align 8
  %429 = load ptr, ptr %315, align 16
  call void %428(ptr noundef %429, i64 noundef %425, i64 noundef %427, i64 noundef 0) #7
  %430 = add i32 %390, 1
  %431 = load atomic i64, ptr %381 acquire, align 8
  br label %386

432:                                              ; preds = %391
  %433 = icmp eq i64 %384, %377
  br i1 %433, label %434, label %378

434:                                              ; preds = %432
  store i32 0, ptr %43, align 4
  %435 = icmp eq i32 %390, 0
  br i1 %435, label %448, label %436

436:                                              ; preds = %434
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #7
  %437 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #7
  %438 = load i64, ptr %8, align 8
  %439 = mul nsw i64 %438, 1000000000
  %440 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %441 = load i64, ptr %440, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #7
  %442 = sub i64 %441, %371
  %443 = add i64 %442, %439
  %444 = zext i32 %343 to i64
  %445 = mul nsw i64 %443, %444
  %446 = zext i32 %390 to i64
  %447 = sdiv i64 %445, %446
  br label %448

448:                                              ; preds = %436, %434, %373
  %449 = phi i32 [ %390, %436 ], [ 0, %434 ], [ 0, %373 ]
  %450 = phi i64 [ %447, %436 ], [ 0, %434 ], [ 0, %373 ]
  %451 = load i32, ptr %318, align 8
  %452 = icmp eq i32 %449, %451
  br i1 %452, label %497, label %453

453:                                              ; preds = %448
  %454 = atomicrmw add ptr %322, i32 %449 acq_rel, align 128
  %455 = load atomic i32, ptr %322 acquire, align 128
  %456 = and i32 %455, -1073741825
  %457 = icmp eq i32 %456, %451
  br i1 %457, label %497, label %458

458:                                              ; preds = %453
  %459 = zext i32 %353 to i64
  %460 = getelementptr inbounds nuw i8, ptr %7, i64 8
  br label %461

461:                                              ; preds = %491, %458
  %462 = phi i32 [ %455, %458 ], [ %494, %491 ]
  %463 = phi i64 [ 0, %458 ], [ %492, %491 ]
  %464 = phi i32 [ 1, %458 ], [ %493, %491 ]
  %465 = load atomic i64, ptr %163 monotonic, align 128
  %466 = lshr i64 %465, 32
  %467 = icmp eq i64 %466, %459
  br i1 %467, label %468, label %497

468:                                              ; preds = %461
  call void @llvm.x86.sse2.pause()
  %469 = and i32 %464, 15
  %470 = icmp eq i32 %469, 0
  br i1 %470, label %471, label %491

471:                                              ; preds = %468
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #7
  %472 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %7) #7
  %473 = load i64, ptr %7, align 8
  %474 = mul nsw i64 %473, 1000000000
  %475 = load i64, ptr %460, align 8
  %476 = add nsw i64 %474, %475
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #7
  %477 = icmp eq i64 %463, 0
  %478 = select i1 %477, i64 %476, i64 %463
  %479 = sub nsw i64 %476, %478
  %480 = icmp slt i64 %479, 30000
  br i1 %480, label %491, label %481

481:                                              ; preds = %471
  %482 = and i32 %462, 1073741824
  %483 = icmp eq i32 %482, 0
  br i1 %483, label %484, label %488

484:                                              ; preds = %481
  %485 = or disjoint i32 %462, 1073741824
  %486 = cmpxchg ptr %322, i32 %462, i32 %485 seq_cst seq_cst, align 128
  %487 = extractvalue { i32, i1 } %486, 1
  br i1 %487, label %488, label %491

488:                                              ; preds = %484, %481
  %489 = phi i32 [ %485, %484 ], [ %462, %481 ]
  %490 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %322, i32 noundef 128, i32 noundef %489, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  br label %491

491:                                              ; preds = %488, %484, %471, %468
  %492 = phi i64 [ %478, %471 ], [ %478, %488 ], [ %478, %484 ], [ %463, %468 ]
  %493 = add i32 %464, 1
  %494 = load atomic i32, ptr %322 acquire, align 128
  %495 = and i32 %494, -1073741825
  %496 = icmp eq i32 %495, %451
  br i1 %496, label %497, label %461

497:                                              ; preds = %491, %461, %453, %448
  %498 = getelementptr inbounds nuw i8, ptr %163, i64 256
  store atomic i32 0, ptr %498 release, align 128
  br label %499

499:                                              ; preds = %497, %294
  %500 = phi i64 [ %302, %294 ], [ %450, %497 ]
  %501 = icmp slt i64 %500, 1
  %502 = or i1 %59, %501
  br i1 %502, label %514, label %503

503:                                              ; preds = %499
  %504 = load atomic i64, ptr %5 monotonic, align 8
  %505 = icmp sgt i64 %504, 0
  br i1 %505, label %506, label %512

506:                                              ; preds = %503
  %507 = sub nsw i64 %500, %504
  %508 = icmp samesign ult i64 %500, %504
  %509 = select i1 %508, i64 2, i64 8
  %510 = sdiv i64 %507, %509
  %511 = add nsw i64 %510, %504
  br label %512

512:                                              ; preds = %506, %503
  %513 = phi i64 [ %511, %506 ], [ %500, %503 ]
  store atomic i64 %513, ptr %5 monotonic, align 8
  br label %514

514:                                              ; preds = %512, %499, %46
  %515 = phi i1 [ %27, %512 ], [ %27, %499 ], [ %47, %46 ]
  %516 = or i1 %18, %515
  br i1 %516, label %520, label %517

517:                                              ; preds = %514
  %518 = load i32, ptr @key, align 4
  %519 = call i32 @pthread_setspecific(i32 noundef %518, ptr noundef null) #7
  br label %520

520:                                              ; preds = %517, %514
  call void @llvm.lifetime.end.p0(ptr nonnull %16) #7
  ret void
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #4

; Function Attrs: nounwind
define void @tw_call(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2, ptr noundef %3, i32 noundef %4) local_unnamed_addr #1 {
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #7
  %10 = tail call fastcc ptr @ready_pool()
  store i32 %4, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %9, i64 4
  store i32 0, ptr %11, align 4
  %12 = getelementptr inbounds nuw i8, ptr %9, i64 8
  store ptr null, ptr %12, align 8
  %13 = icmp eq ptr %10, null
  br i1 %13, label %29, label %14

14:                                               ; preds = %5
  %15 = load i32, ptr @key, align 4
  %16 = tail call ptr @pthread_getspecific(i32 noundef %15) #7
  store ptr %16, ptr %12, align 8
  %17 = icmp eq ptr %16, null
  br i1 %17, label %21, label %18

18:                                               ; preds = %14
  %19 = getelementptr inbounds nuw i8, ptr %16, i64 4
  %20 = load i32, ptr %19, align 4
  store i32 %20, ptr %11, align 4
  br label %21

21:                                               ; preds = %18, %14
  %22 = load i32, ptr @key, align 4
  %23 = call i32 @pthread_setspecific(i32 noundef %22, ptr noundef nonnull %9) #7
  %24 = load ptr, ptr %12, align 8
  %25 = icmp eq ptr %24, null
  br i1 %25, label %26, label %29

26:                                               ; preds = %21
  %27 = getelementptr inbounds nuw i8, ptr %10, i64 256
  %28 = atomicrmw add ptr %27, i32 1 monotonic, align 128
  br label %29

29:                                               ; preds = %5, %21, %26
  call void @llvm.lifetime.start.p0(ptr nonnull %8)
  call void @llvm.x86.sse.stmxcsr(ptr nonnull %8)
  %30 = load i32, ptr %8, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %8)
  %31 = or i32 %30, 32832
  call void @llvm.lifetime.start.p0(ptr nonnull %7)
  store i32 %31, ptr %7, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr nonnull %7)
  call void @llvm.lifetime.end.p0(ptr nonnull %7)
  call void %0(ptr noundef %1, ptr noundef %2, ptr noundef %3) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %6)
  store i32 %30, ptr %6, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr nonnull %6)
  call void @llvm.lifetime.end.p0(ptr nonnull %6)
  %32 = load atomic i64, ptr @the_pool acquire, align 8
  %33 = inttoptr i64 %32 to ptr
  %34 = icmp eq i64 %32, 0
  br i1 %34, label %48, label %35

35:                                               ; preds = %29
  %36 = load i32, ptr @key, align 4
  %37 = call ptr @pthread_getspecific(i32 noundef %36) #7
  %38 = icmp eq ptr %37, %9
  br i1 %38, label %39, label %48

39:                                               ; preds = %35
  %40 = load i32, ptr @key, align 4
  %41 = load ptr, ptr %12, align 8
  %42 = call i32 @pthread_setspecific(i32 noundef %40, ptr noundef %41) #7
  %43 = load ptr, ptr %12, align 8
  %44 = icmp eq ptr %43, null
  br i1 %44, label %45, label %48

45:                                               ; preds = %39
  %46 = getelementptr inbounds nuw i8, ptr %33, i64 256
  %47 = atomicrmw sub ptr %46, i32 1 monotonic, align 128
  br label %48

48:                                               ; preds = %29, %35, %39, %45
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #7
  ret void
}

; Function Attrs: nounwind
define range(i64 -9223372036854775807, -9223372036854775808) i64 @tw_bench(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2, ptr noundef %3, i32 noundef %4, ptr noundef %5, i32 noundef %6, i64 noundef %7, i64 noundef %8, ptr noundef writeonly captures(none) %9) local_unnamed_addr #1 {
  %11 = alloca i32, align 4
  %12 = alloca %struct.timespec, align 8
  %13 = alloca %struct.timespec, align 8
  %14 = alloca %struct.timespec, align 8
  %15 = alloca i32, align 4
  %16 = alloca i32, align 4
  %17 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %17) #7
  %18 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %19 = load i64, ptr %18, align 8
  %20 = icmp sgt i64 %19, 0
  br i1 %20, label %59, label %21

21:                                               ; preds = %59, %10
  %22 = phi i64 [ 0, %10 ], [ %65, %59 ]
  %23 = tail call fastcc ptr @ready_pool()
  store i32 %4, ptr %17, align 8
  %24 = getelementptr inbounds nuw i8, ptr %17, i64 4
  store i32 0, ptr %24, align 4
  %25 = getelementptr inbounds nuw i8, ptr %17, i64 8
  store ptr null, ptr %25, align 8
  %26 = icmp eq ptr %23, null
  br i1 %26, label %42, label %27

27:                                               ; preds = %21
  %28 = load i32, ptr @key, align 4
  %29 = tail call ptr @pthread_getspecific(i32 noundef %28) #7
  store ptr %29, ptr %25, align 8
  %30 = icmp eq ptr %29, null
  br i1 %30, label %34, label %31

31:                                               ; preds = %27
  %32 = getelementptr inbounds nuw i8, ptr %29, i64 4
  %33 = load i32, ptr %32, align 4
  store i32 %33, ptr %24, align 4
  br label %34

34:                                               ; preds = %31, %27
  %35 = load i32, ptr @key, align 4
  %36 = call i32 @pthread_setspecific(i32 noundef %35, ptr noundef nonnull %17) #7
  %37 = load ptr, ptr %25, align 8
  %38 = icmp eq ptr %37, null
  br i1 %38, label %39, label %42

39:                                               ; preds = %34
  %40 = getelementptr inbounds nuw i8, ptr %23, i64 256
  %41 = atomicrmw add ptr %40, i32 1 monotonic, align 128
  br label %42

42:                                               ; preds = %21, %34, %39
  call void @llvm.lifetime.start.p0(ptr nonnull %16)
  call void @llvm.x86.sse.stmxcsr(ptr nonnull %16)
  %43 = load i32, ptr %16, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %16)
  %44 = or i32 %43, 32832
  call void @llvm.lifetime.start.p0(ptr nonnull %15)
  store i32 %44, ptr %15, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr nonnull %15)
  call void @llvm.lifetime.end.p0(ptr nonnull %15)
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #7
  %45 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %14) #7
  %46 = load i64, ptr %14, align 8
  %47 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %48 = load i64, ptr %47, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #7
  %49 = icmp sgt i32 %6, 0
  %50 = icmp ne i64 %22, 0
  %51 = select i1 %49, i1 %50, i1 false
  %52 = add i64 %22, -1
  %53 = zext nneg i32 %6 to i64
  %54 = add i64 %52, %53
  %55 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %56 = getelementptr inbounds nuw i8, ptr %12, i64 8
  %57 = mul i64 %46, -1000000000
  %58 = sub i64 %57, %48
  br label %70

59:                                               ; preds = %10, %59
  %60 = phi i64 [ %68, %59 ], [ %19, %10 ]
  %61 = phi i64 [ %65, %59 ], [ 0, %10 ]
  %62 = phi ptr [ %66, %59 ], [ %5, %10 ]
  %63 = add nuw nsw i64 %60, 4095
  %64 = lshr i64 %63, 12
  %65 = add nuw nsw i64 %64, %61
  %66 = getelementptr inbounds nuw i8, ptr %62, i64 16
  %67 = getelementptr inbounds nuw i8, ptr %62, i64 24
  %68 = load i64, ptr %67, align 8
  %69 = icmp sgt i64 %68, 0
  br i1 %69, label %59, label %21

70:                                               ; preds = %74, %42
  %71 = phi i64 [ 0, %42 ], [ %88, %74 ]
  br i1 %51, label %72, label %74

72:                                               ; preds = %70
  store i32 %6, ptr %17, align 8
  %73 = sdiv i64 %54, %53
  call void @tw_parallel(ptr noundef nonnull @read_pages, ptr noundef %5, i64 noundef %22, i64 noundef %73, i32 noundef %6, ptr noundef null)
  store i32 %4, ptr %17, align 8
  br label %74

74:                                               ; preds = %72, %70
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #7
  %75 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %13) #7
  %76 = load i64, ptr %13, align 8
  %77 = load i64, ptr %55, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #7
  call void %0(ptr noundef %1, ptr noundef %2, ptr noundef %3) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #7
  %78 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %12) #7
  %79 = load i64, ptr %12, align 8
  %80 = mul nsw i64 %79, 1000000000
  %81 = load i64, ptr %56, align 8
  %82 = add nsw i64 %80, %81
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #7
  %83 = mul i64 %76, -1000000000
  %84 = sub i64 %83, %77
  %85 = add i64 %84, %82
  %86 = sitofp i64 %85 to double
  %87 = fmul double %86, 1.000000e-09
  %88 = add nuw nsw i64 %71, 1
  %89 = getelementptr inbounds nuw double, ptr %9, i64 %71
  store double %87, ptr %89, align 8
  %90 = icmp slt i64 %88, %7
  %91 = add i64 %58, %82
  %92 = icmp slt i64 %91, %8
  %93 = select i1 %90, i1 %92, i1 false
  br i1 %93, label %70, label %94

94:                                               ; preds = %74
  call void @llvm.lifetime.start.p0(ptr nonnull %11)
  store i32 %43, ptr %11, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr nonnull %11)
  call void @llvm.lifetime.end.p0(ptr nonnull %11)
  %95 = load atomic i64, ptr @the_pool acquire, align 8
  %96 = inttoptr i64 %95 to ptr
  %97 = icmp eq i64 %95, 0
  br i1 %97, label %111, label %98

98:                                               ; preds = %94
  %99 = load i32, ptr @key, align 4
  %100 = call ptr @pthread_getspecific(i32 noundef %99) #7
  %101 = icmp eq ptr %100, %17
  br i1 %101, label %102, label %111

102:                                              ; preds = %98
  %103 = load i32, ptr @key, align 4
  %104 = load ptr, ptr %25, align 8
  %105 = call i32 @pthread_setspecific(i32 noundef %103, ptr noundef %104) #7
  %106 = load ptr, ptr %25, align 8
  %107 = icmp eq ptr %106, null
  br i1 %107, label %108, label %111

108:                                              ; preds = %102
  %109 = getelementptr inbounds nuw i8, ptr %96, i64 256
  %110 = atomicrmw sub ptr %109, i32 1 monotonic, align 128
  br label %111

111:                                              ; preds = %94, %98, %102, %108
  call void @llvm.lifetime.end.p0(ptr nonnull %17) #7
  ret i64 %88
}

; Function Attrs: nofree norecurse nounwind memory(readwrite, target_mem0: none, target_mem1: none)
define internal void @read_pages(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, i64 %3) #5 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %6 = load i64, ptr %5, align 8
  %7 = icmp sgt i64 %6, 0
  br i1 %7, label %9, label %8

8:                                                ; preds = %42, %4
  ret void

9:                                                ; preds = %4, %42
  %10 = phi i64 [ %46, %42 ], [ %6, %4 ]
  %11 = phi i64 [ %43, %42 ], [ 0, %4 ]
  %12 = phi ptr [ %44, %42 ], [ %0, %4 ]
  %13 = add nuw nsw i64 %10, 4095
  %14 = lshr i64 %13, 12
  %15 = icmp sgt i64 %1, %11
  %16 = sub nsw i64 %1, %11
  %17 = select i1 %15, i64 %16, i64 0
  %18 = icmp slt i64 %17, %14
  %19 = add nsw i64 %17, %11
  %20 = icmp slt i64 %19, %2
  %21 = select i1 %18, i1 %20, i1 false
  br i1 %21, label %27, label %42

22:                                               ; preds = %36, %27
  %23 = icmp slt i64 %30, %14
  %24 = add nsw i64 %30, %11
  %25 = icmp slt i64 %24, %2
  %26 = select i1 %23, i1 %25, i1 false
  br i1 %26, label %27, label %42

27:                                               ; preds = %9, %22
  %28 = phi i64 [ %30, %22 ], [ %17, %9 ]
  %29 = shl nsw i64 %28, 12
  %30 = add nsw i64 %28, 1
  %31 = shl nsw i64 %30, 12
  %32 = tail call i64 @llvm.smin.i64(i64 %31, i64 %10)
  %33 = icmp sgt i64 %10, %29
  br i1 %33, label %34, label %22

34:                                               ; preds = %27
  %35 = load ptr, ptr %12, align 8
  br label %36

36:                                               ; preds = %34, %36
  %37 = phi i64 [ %29, %34 ], [ %40, %36 ]
  %38 = getelementptr inbounds i8, ptr %35, i64 %37
  %39 = load volatile i8, ptr %38, align 1
  %40 = add nsw i64 %37, 64
  %41 = icmp slt i64 %40, %32
  br i1 %41, label %36, label %22

42:                                               ; preds = %22, %9
  %43 = add nuw nsw i64 %14, %11
  %44 = getelementptr inbounds nuw i8, ptr %12, i64 16
  %45 = getelementptr inbounds nuw i8, ptr %12, i64 24
  %46 = load i64, ptr %45, align 8
  %47 = icmp sgt i64 %46, 0
  br i1 %47, label %9, label %8
}

; Function Attrs: nounwind
declare i32 @getpid() local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #6

; Function Attrs: nounwind
declare ptr @mmap(ptr noundef, i64 noundef, i32 noundef, i32 noundef, i32 noundef, i64 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @madvise(ptr noundef, i64 noundef, i32 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @pthread_key_create(ptr noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @munmap(ptr noundef, i64 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @pthread_key_delete(i32 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare void @llvm.x86.sse2.pause() #7

; Function Attrs: nounwind
declare i32 @sched_getaffinity(i32 noundef, i64 noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @__sched_cpucount(i64 noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @sigfillset(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @pthread_sigmask(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @pthread_attr_init(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @pthread_attr_setdetachstate(ptr noundef, i32 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: noreturn nounwind
define internal noalias noundef nonnull ptr @worker(ptr noundef %0) #8 {
  %2 = alloca %struct.timespec, align 8
  %3 = alloca %struct.cpu_set_t, align 8
  %4 = alloca %struct.cpu_set_t, align 8
  %5 = alloca %struct.timespec, align 8
  %6 = alloca %struct.timespec, align 8
  %7 = alloca %struct.cpu_set_t, align 8
  %8 = alloca %struct.timespec, align 8
  %9 = alloca %struct.cpu_set_t, align 8
  %10 = alloca %struct.timespec, align 8
  %11 = alloca i32, align 4
  %12 = alloca i32, align 4
  %13 = alloca %struct.worker, align 8
  %14 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #7
  %15 = getelementptr inbounds nuw i8, ptr %13, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(144) %15, i8 0, i64 144, i1 false)
  store ptr %0, ptr %13, align 8
  %16 = getelementptr inbounds nuw i8, ptr %13, i64 136
  store i64 -1, ptr %16, align 8
  %17 = getelementptr inbounds nuw i8, ptr %13, i64 144
  store i32 -1, ptr %17, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #7
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %14, ptr noundef nonnull align 8 dereferenceable(16) @__const.worker.caller, i64 16, i1 false)
  %18 = load i32, ptr @key, align 4
  %19 = call i32 @pthread_setspecific(i32 noundef %18, ptr noundef nonnull %14) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %12)
  call void @llvm.x86.sse.stmxcsr(ptr nonnull %12)
  %20 = load i32, ptr %12, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %12)
  %21 = or i32 %20, 32832
  call void @llvm.lifetime.start.p0(ptr nonnull %11)
  store i32 %21, ptr %11, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr nonnull %11)
  call void @llvm.lifetime.end.p0(ptr nonnull %11)
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #7
  %22 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #7
  %23 = load i64, ptr %10, align 8
  %24 = mul nsw i64 %23, 1000000000
  %25 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %26 = load i64, ptr %25, align 8
  %27 = add nsw i64 %24, %26
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #7
  %28 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 384
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 4
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 768
  %34 = getelementptr inbounds nuw i8, ptr %13, i64 148
  %35 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %36 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %37 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %38 = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %39

39:                                               ; preds = %379, %1
  %40 = phi i32 [ 1, %1 ], [ %381, %379 ]
  %41 = phi i64 [ %27, %1 ], [ %380, %379 ]
  %42 = load atomic i32, ptr %29 monotonic, align 128
  %43 = load atomic i32, ptr %30 monotonic, align 128
  %44 = add nsw i32 %43, %42
  %45 = load i32, ptr %31, align 4
  %46 = icmp slt i32 %44, %45
  br i1 %46, label %47, label %279

47:                                               ; preds = %39
  %48 = load atomic i32, ptr %32 acquire, align 8
  %49 = icmp sgt i32 %48, 0
  br i1 %49, label %50, label %279

50:                                               ; preds = %47
  %51 = zext nneg i32 %48 to i64
  br label %52

52:                                               ; preds = %65, %50
  %53 = phi i64 [ 0, %50 ], [ %66, %65 ]
  %54 = getelementptr inbounds nuw %struct.region, ptr %33, i64 %53
  %55 = load atomic i64, ptr %54 acquire, align 128
  %56 = lshr i64 %55, 32
  %57 = getelementptr inbounds nuw i64, ptr %28, i64 %53
  %58 = load i64, ptr %57, align 8
  %59 = icmp eq i64 %56, %58
  br i1 %59, label %65, label %60

60:                                               ; preds = %52
  %61 = and i64 %55, 65535
  %62 = lshr i64 %55, 16
  %63 = and i64 %62, 65535
  %64 = icmp samesign ult i64 %61, %63
  br i1 %64, label %68, label %65

65:                                               ; preds = %60, %52
  %66 = add nuw nsw i64 %53, 1
  %67 = icmp eq i64 %66, %51
  br i1 %67, label %279, label %52

68:                                               ; preds = %60
  %69 = load ptr, ptr %13, align 8
  %70 = getelementptr inbounds nuw i8, ptr %54, i64 56
  %71 = load atomic i32, ptr %70 monotonic, align 8
  store i32 %71, ptr %17, align 8
  %72 = call i32 @sched_getcpu() #7
  %73 = icmp eq i32 %72, %71
  br i1 %73, label %74, label %92

74:                                               ; preds = %68
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #7
  %75 = getelementptr inbounds nuw i8, ptr %69, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %9, ptr noundef nonnull readonly align 8 dereferenceable(128) %75, i64 128, i1 false)
  %76 = icmp ult i32 %71, 1024
  br i1 %76, label %77, label %86

77:                                               ; preds = %74
  %78 = zext nneg i32 %71 to i64
  %79 = and i64 %78, 63
  %80 = shl nuw i64 1, %79
  %81 = xor i64 %80, -1
  %82 = lshr i64 %78, 6
  %83 = getelementptr inbounds nuw i64, ptr %9, i64 %82
  %84 = load i64, ptr %83, align 8
  %85 = and i64 %84, %81
  store i64 %85, ptr %83, align 8
  br label %86

86:                                               ; preds = %77, %74
  %87 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %9) #7
  %88 = icmp sgt i32 %87, 0
  br i1 %88, label %89, label %91

89:                                               ; preds = %86
  %90 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %9) #7
  br label %91

91:                                               ; preds = %89, %86
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #7
  store i32 1, ptr %34, align 4
  br label %92

92:                                               ; preds = %91, %68
  %93 = load atomic i64, ptr %54 seq_cst, align 128
  %94 = lshr i64 %93, 32
  %95 = getelementptr inbounds nuw i8, ptr %69, i64 768
  %96 = ptrtoint ptr %54 to i64
  %97 = ptrtoint ptr %95 to i64
  %98 = sub i64 %96, %97
  %99 = sdiv exact i64 %98, 4144
  %100 = getelementptr inbounds i8, ptr %28, i64 %99
  store i64 %94, ptr %100, align 8
  %101 = getelementptr inbounds nuw i8, ptr %69, i64 384
  %102 = atomicrmw add ptr %101, i32 1 monotonic, align 128
  %103 = load i64, ptr %16, align 8
  %104 = load atomic i64, ptr %54 acquire, align 128
  %105 = lshr i64 %104, 32
  %106 = trunc i64 %104 to i32
  %107 = lshr i32 %106, 16
  %108 = zext nneg i32 %107 to i64
  br label %109

109:                                              ; preds = %116, %92
  %110 = phi i64 [ %104, %92 ], [ %120, %116 ]
  %111 = lshr i64 %110, 32
  %112 = icmp eq i64 %111, %105
  %113 = and i64 %110, 65535
  %114 = icmp samesign ult i64 %113, %108
  %115 = select i1 %112, i1 %114, i1 false
  br i1 %115, label %116, label %262

116:                                              ; preds = %109
  %117 = add i64 %110, 1
  %118 = cmpxchg weak ptr %54, i64 %110, i64 %117 acq_rel acquire, align 128
  %119 = extractvalue { i64, i1 } %118, 1
  %120 = extractvalue { i64, i1 } %118, 0
  br i1 %119, label %121, label %109

121:                                              ; preds = %116
  %122 = trunc i64 %110 to i32
  %123 = and i32 %122, 65535
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #7
  %124 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #7
  %125 = load i64, ptr %8, align 8
  %126 = mul nsw i64 %125, 1000000000
  %127 = load i64, ptr %35, align 8
  %128 = add nsw i64 %126, %127
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #7
  %129 = icmp slt i64 %103, 0
  %130 = add nuw nsw i32 %123, 1
  %131 = icmp samesign ult i32 %130, %107
  %132 = select i1 %129, i1 %131, i1 false
  br i1 %132, label %133, label %143

133:                                              ; preds = %121
  %134 = getelementptr inbounds nuw i8, ptr %69, i64 512
  %135 = load atomic i32, ptr %134 seq_cst, align 128
  %136 = icmp sgt i32 %135, 0
  br i1 %136, label %137, label %143

137:                                              ; preds = %133
  %138 = getelementptr inbounds nuw i8, ptr %69, i64 644
  %139 = call i32 @sched_getcpu() #7
  store atomic i32 %139, ptr %138 monotonic, align 4
  %140 = getelementptr inbounds nuw i8, ptr %69, i64 640
  %141 = atomicrmw add ptr %140, i32 1 seq_cst, align 128
  %142 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %140, i32 noundef 129, i32 noundef range(i32 1, 3) 2, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  br label %143

143:                                              ; preds = %137, %133, %121
  %144 = getelementptr inbounds nuw i8, ptr %54, i64 384
  %145 = getelementptr inbounds nuw i8, ptr %54, i64 24
  %146 = zext nneg i32 %107 to i128
  %147 = getelementptr inbounds nuw i8, ptr %54, i64 32
  %148 = getelementptr inbounds nuw i8, ptr %54, i64 8
  %149 = getelementptr inbounds nuw i8, ptr %54, i64 16
  %150 = icmp eq ptr %69, null
  %151 = getelementptr inbounds nuw i8, ptr %69, i64 256
  %152 = getelementptr inbounds nuw i8, ptr %69, i64 4
  br label %153

153:                                              ; preds = %217, %143
  %154 = phi i32 [ 0, %143 ], [ %168, %217 ]
  %155 = phi i32 [ 0, %143 ], [ %218, %217 ]
  %156 = add nuw nsw i32 %155, %123
  %157 = urem i32 %156, %107
  %158 = zext nneg i32 %157 to i64
  %159 = getelementptr inbounds nuw %struct.steps, ptr %144, i64 %158
  %160 = load atomic i64, ptr %159 acquire, align 8
  %161 = zext nneg i32 %157 to i128
  %162 = add nuw nsw i32 %157, 1
  %163 = zext nneg i32 %162 to i128
  br label %164

164:                                              ; preds = %215, %153
  %165 = phi i64 [ %193, %215 ], [ -1, %153 ]
  %166 = phi i64 [ %194, %215 ], [ 0, %153 ]
  %167 = phi i64 [ %216, %215 ], [ %160, %153 ]
  %168 = phi i32 [ %208, %215 ], [ %154, %153 ]
  br label %169

169:                                              ; preds = %176, %164
  %170 = phi i64 [ %180, %176 ], [ %167, %164 ]
  %171 = lshr i64 %170, 32
  %172 = icmp ne i64 %171, %105
  %173 = and i64 %170, 4294967295
  %174 = icmp eq i64 %173, 0
  %175 = or i1 %172, %174
  br i1 %175, label %217, label %176

176:                                              ; preds = %169
  %177 = add i64 %170, -1
  %178 = cmpxchg weak ptr %159, i64 %170, i64 %177 acq_rel acquire, align 8
  %179 = extractvalue { i64, i1 } %178, 1
  %180 = extractvalue { i64, i1 } %178, 0
  br i1 %179, label %181, label %169

181:                                              ; preds = %176
  %182 = icmp slt i64 %165, 0
  br i1 %182, label %183, label %192

183:                                              ; preds = %181
  %184 = load i64, ptr %145, align 8
  %185 = sext i64 %184 to i128
  %186 = mul nsw i128 %185, %161
  %187 = sdiv i128 %186, %146
  %188 = trunc i128 %187 to i64
  %189 = mul nsw i128 %185, %163
  %190 = sdiv i128 %189, %146
  %191 = trunc i128 %190 to i64
  br label %192

192:                                              ; preds = %183, %181
  %193 = phi i64 [ %191, %183 ], [ %165, %181 ]
  %194 = phi i64 [ %188, %183 ], [ %166, %181 ]
  %195 = load i64, ptr %147, align 32
  %196 = xor i64 %194, -1
  %197 = add i64 %193, %196
  %198 = add i64 %197, %195
  %199 = sdiv i64 %198, %195
  %200 = sub i64 %199, %170
  %201 = and i64 %200, 4294967295
  %202 = mul nsw i64 %201, %195
  %203 = add nsw i64 %202, %194
  %204 = add nsw i64 %203, %195
  %205 = call i64 @llvm.smin.i64(i64 %204, i64 %193)
  %206 = load ptr, ptr %148, align 8
  %207 = load ptr, ptr %149, align 16
  call void %206(ptr noundef %207, i64 noundef %203, i64 noundef %205, i64 noundef %113) #7
  %208 = add i32 %168, 1
  br i1 %150, label %215, label %209

209:                                              ; preds = %192
  %210 = load atomic i32, ptr %151 monotonic, align 128
  %211 = load atomic i32, ptr %101 monotonic, align 128
  %212 = add nsw i32 %211, %210
  %213 = load i32, ptr %152, align 4
  %214 = icmp sgt i32 %212, %213
  br i1 %214, label %220, label %215

215:                                              ; preds = %209, %192
  %216 = load atomic i64, ptr %159 acquire, align 8
  br label %164

217:                                              ; preds = %169
  %218 = add nuw nsw i32 %155, 1
  %219 = icmp eq i32 %218, %107
  br i1 %219, label %220, label %153

220:                                              ; preds = %217, %209
  %221 = phi i32 [ %208, %209 ], [ %168, %217 ]
  %222 = icmp eq i32 %221, 0
  br i1 %222, label %262, label %223

223:                                              ; preds = %220
  %224 = getelementptr inbounds nuw i8, ptr %54, i64 40
  %225 = load i32, ptr %224, align 8
  %226 = getelementptr inbounds nuw i8, ptr %54, i64 48
  %227 = load atomic i64, ptr %226 monotonic, align 16
  %228 = sub i64 %128, %227
  br i1 %129, label %229, label %239

229:                                              ; preds = %223
  %230 = getelementptr inbounds nuw i8, ptr %69, i64 168
  %231 = load atomic i64, ptr %230 monotonic, align 8
  %232 = shl nsw i64 %231, 3
  %233 = icmp sgt i64 %228, %232
  br i1 %233, label %251, label %234

234:                                              ; preds = %229
  %235 = sub nsw i64 %228, %231
  %236 = sdiv i64 %235, 8
  %237 = add nsw i64 %236, %231
  %238 = call i64 @llvm.smax.i64(i64 %237, i64 50)
  store atomic i64 %238, ptr %230 monotonic, align 8
  br label %251

239:                                              ; preds = %223
  %240 = icmp slt i64 %103, %227
  br i1 %240, label %241, label %251

241:                                              ; preds = %239
  %242 = getelementptr inbounds nuw i8, ptr %69, i64 160
  %243 = load atomic i64, ptr %242 monotonic, align 8
  %244 = shl nsw i64 %243, 3
  %245 = icmp sgt i64 %228, %244
  br i1 %245, label %251, label %246

246:                                              ; preds = %241
  %247 = sub nsw i64 %228, %243
  %248 = sdiv i64 %247, 8
  %249 = add nsw i64 %248, %243
  %250 = call i64 @llvm.smax.i64(i64 %249, i64 50)
  store atomic i64 %250, ptr %242 monotonic, align 8
  br label %251

251:                                              ; preds = %246, %241, %239, %234, %229
  %252 = getelementptr inbounds nuw i8, ptr %54, i64 128
  %253 = atomicrmw add ptr %252, i32 %221 acq_rel, align 128
  %254 = and i32 %253, 1073741824
  %255 = icmp eq i32 %254, 0
  br i1 %255, label %262, label %256

256:                                              ; preds = %251
  %257 = and i32 %253, -1073741825
  %258 = add i32 %257, %221
  %259 = icmp eq i32 %258, %225
  br i1 %259, label %260, label %262

260:                                              ; preds = %256
  %261 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %252, i32 noundef 129, i32 noundef 1, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  br label %262

262:                                              ; preds = %109, %260, %256, %251, %220
  %263 = atomicrmw sub ptr %101, i32 1 monotonic, align 128
  %264 = load i32, ptr %34, align 4
  %265 = icmp eq i32 %264, 0
  br i1 %265, label %273, label %266

266:                                              ; preds = %262
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #7
  %267 = getelementptr inbounds nuw i8, ptr %69, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %7, ptr noundef nonnull readonly align 8 dereferenceable(128) %267, i64 128, i1 false)
  %268 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %7) #7
  %269 = icmp sgt i32 %268, 0
  br i1 %269, label %270, label %272

270:                                              ; preds = %266
  %271 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %7) #7
  br label %272

272:                                              ; preds = %270, %266
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #7
  br label %273

273:                                              ; preds = %262, %272
  store i32 0, ptr %34, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #7
  %274 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %6) #7
  %275 = load i64, ptr %6, align 8
  %276 = mul nsw i64 %275, 1000000000
  %277 = load i64, ptr %36, align 8
  %278 = add nsw i64 %276, %277
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #7
  store i64 %278, ptr %16, align 8
  br label %379

279:                                              ; preds = %65, %39, %47
  call void @llvm.x86.sse2.pause()
  %280 = and i32 %40, 15
  %281 = icmp eq i32 %280, 0
  br i1 %281, label %282, label %379

282:                                              ; preds = %279
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #7
  %283 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %5) #7
  %284 = load i64, ptr %5, align 8
  %285 = mul nsw i64 %284, 1000000000
  %286 = load i64, ptr %37, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #7
  %287 = sub i64 %286, %41
  %288 = add i64 %287, %285
  %289 = icmp slt i64 %288, 100000
  br i1 %289, label %379, label %290

290:                                              ; preds = %282
  %291 = load ptr, ptr %13, align 8
  %292 = getelementptr inbounds nuw i8, ptr %291, i64 640
  %293 = load atomic i32, ptr %292 seq_cst, align 128
  %294 = load ptr, ptr %13, align 8
  %295 = load i32, ptr %17, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #7
  %296 = getelementptr inbounds nuw i8, ptr %294, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %4, ptr noundef nonnull readonly align 8 dereferenceable(128) %296, i64 128, i1 false)
  %297 = icmp ult i32 %295, 1024
  br i1 %297, label %298, label %307

298:                                              ; preds = %290
  %299 = zext nneg i32 %295 to i64
  %300 = and i64 %299, 63
  %301 = shl nuw i64 1, %300
  %302 = xor i64 %301, -1
  %303 = lshr i64 %299, 6
  %304 = getelementptr inbounds nuw i64, ptr %4, i64 %303
  %305 = load i64, ptr %304, align 8
  %306 = and i64 %305, %302
  store i64 %306, ptr %304, align 8
  br label %307

307:                                              ; preds = %298, %290
  %308 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %4) #7
  %309 = icmp sgt i32 %308, 0
  br i1 %309, label %310, label %312

310:                                              ; preds = %307
  %311 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %4) #7
  br label %312

312:                                              ; preds = %310, %307
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #7
  store i32 1, ptr %34, align 4
  %313 = getelementptr inbounds nuw i8, ptr %291, i64 512
  %314 = atomicrmw add ptr %313, i32 1 seq_cst, align 128
  %315 = getelementptr inbounds nuw i8, ptr %291, i64 256
  %316 = load atomic i32, ptr %315 monotonic, align 128
  %317 = getelementptr inbounds nuw i8, ptr %291, i64 384
  %318 = load atomic i32, ptr %317 monotonic, align 128
  %319 = add nsw i32 %318, %316
  %320 = getelementptr inbounds nuw i8, ptr %291, i64 4
  %321 = load i32, ptr %320, align 4
  %322 = icmp slt i32 %319, %321
  br i1 %322, label %323, label %346

323:                                              ; preds = %312
  %324 = getelementptr inbounds nuw i8, ptr %291, i64 152
  %325 = load atomic i32, ptr %324 acquire, align 8
  %326 = icmp sgt i32 %325, 0
  br i1 %326, label %327, label %346

327:                                              ; preds = %323
  %328 = getelementptr inbounds nuw i8, ptr %291, i64 768
  %329 = zext nneg i32 %325 to i64
  br label %330

330:                                              ; preds = %343, %327
  %331 = phi i64 [ 0, %327 ], [ %344, %343 ]
  %332 = getelementptr inbounds nuw %struct.region, ptr %328, i64 %331
  %333 = load atomic i64, ptr %332 acquire, align 128
  %334 = lshr i64 %333, 32
  %335 = getelementptr inbounds nuw i64, ptr %28, i64 %331
  %336 = load i64, ptr %335, align 8
  %337 = icmp eq i64 %334, %336
  br i1 %337, label %343, label %338

338:                                              ; preds = %330
  %339 = and i64 %333, 65535
  %340 = lshr i64 %333, 16
  %341 = and i64 %340, 65535
  %342 = icmp samesign ult i64 %339, %341
  br i1 %342, label %348, label %343

343:                                              ; preds = %338, %330
  %344 = add nuw nsw i64 %331, 1
  %345 = icmp eq i64 %344, %329
  br i1 %345, label %346, label %330

346:                                              ; preds = %343, %323, %312
  %347 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %292, i32 noundef 128, i32 noundef %293, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  br label %348

348:                                              ; preds = %338, %346
  %349 = atomicrmw sub ptr %313, i32 1 seq_cst, align 128
  %350 = getelementptr inbounds nuw i8, ptr %291, i64 644
  %351 = load atomic i32, ptr %350 monotonic, align 4
  store i32 %351, ptr %17, align 8
  %352 = call i32 @sched_getcpu() #7
  %353 = icmp eq i32 %352, %351
  br i1 %353, label %354, label %373

354:                                              ; preds = %348
  %355 = load ptr, ptr %13, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #7
  %356 = getelementptr inbounds nuw i8, ptr %355, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %3, ptr noundef nonnull readonly align 8 dereferenceable(128) %356, i64 128, i1 false)
  %357 = icmp ult i32 %351, 1024
  br i1 %357, label %358, label %367

358:                                              ; preds = %354
  %359 = zext nneg i32 %351 to i64
  %360 = and i64 %359, 63
  %361 = shl nuw i64 1, %360
  %362 = xor i64 %361, -1
  %363 = lshr i64 %359, 6
  %364 = getelementptr inbounds nuw i64, ptr %3, i64 %363
  %365 = load i64, ptr %364, align 8
  %366 = and i64 %365, %362
  store i64 %366, ptr %364, align 8
  br label %367

367:                                              ; preds = %358, %354
  %368 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %3) #7
  %369 = icmp sgt i32 %368, 0
  br i1 %369, label %370, label %372

370:                                              ; preds = %367
  %371 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %3) #7
  br label %372

372:                                              ; preds = %370, %367
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #7
  store i32 1, ptr %34, align 4
  br label %373

373:                                              ; preds = %348, %372
  store i64 -1, ptr %16, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %2) #7
  %374 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %2) #7
  %375 = load i64, ptr %2, align 8
  %376 = mul nsw i64 %375, 1000000000
  %377 = load i64, ptr %38, align 8
  %378 = add nsw i64 %376, %377
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #7
  br label %379

379:                                              ; preds = %279, %282, %373, %273
  %380 = phi i64 [ %278, %273 ], [ %378, %373 ], [ %41, %282 ], [ %41, %279 ]
  %381 = add i32 %40, 1
  br label %39
}

; Function Attrs: nounwind
declare i32 @pthread_attr_destroy(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @sched_getcpu() local_unnamed_addr #3

; Function Attrs: nounwind
declare i64 @syscall(i64 noundef, ...) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @sched_setaffinity(i32 noundef, i64 noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind memory(argmem: write)
declare void @llvm.x86.sse.stmxcsr(ptr) #9

; Function Attrs: nounwind
declare void @llvm.x86.sse.ldmxcsr(ptr) #7

; Function Attrs: nounwind
declare i32 @clock_gettime(i32 noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smin.i32(i32, i32) #10

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #10

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smin.i64(i64, i64) #10

attributes #0 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: none, inaccessiblemem: none, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #1 = { nounwind "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { nounwind "no-trapping-math"="true" }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { nofree norecurse nounwind memory(readwrite, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #6 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #7 = { nounwind }
attributes #8 = { noreturn nounwind "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #9 = { nounwind memory(argmem: write) }
attributes #10 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }


