
%struct.tw_caller = type { i32, i32, ptr }
%struct.timespec = type { i64, i64 }
%struct.__sigset_t = type { [16 x i64] }
%union.pthread_attr_t = type { i64, [56 x i8] }
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
  %9 = tail call ptr @pthread_getspecific(i32 noundef %8) #8
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
  %16 = tail call i32 @pthread_setspecific(i32 noundef %15, ptr noundef nonnull %0) #8
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
  %5 = tail call ptr @mmap(ptr noundef null, i64 noundef 531200, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) #8
  %6 = icmp eq ptr %5, inttoptr (i64 -1 to ptr)
  br i1 %6, label %75, label %7

7:                                                ; preds = %4
  %8 = tail call i32 @madvise(ptr noundef %5, i64 noundef 531200, i32 noundef 18) #8
  %9 = icmp ne i32 %8, 0
  %10 = zext i1 %9 to i32
  call void @llvm.lifetime.start.p0(ptr nonnull %1) #8
  %11 = call i32 @pthread_key_create(ptr noundef nonnull %1, ptr noundef null) #8
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %15, label %13

13:                                               ; preds = %7
  %14 = call i32 @munmap(ptr noundef %5, i64 noundef 531200) #8
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #8
  br label %75

15:                                               ; preds = %7
  %16 = atomicrmw xchg ptr @new_pool.claimed, i32 1 seq_cst, align 4
  %17 = icmp eq i32 %16, 0
  %18 = load i32, ptr %1, align 4
  br i1 %17, label %29, label %19

19:                                               ; preds = %15
  %20 = call i32 @pthread_key_delete(i32 noundef %18) #8
  %21 = call i32 @munmap(ptr noundef %5, i64 noundef 531200) #8
  %22 = load atomic i64, ptr @the_pool seq_cst, align 8
  %23 = icmp eq i64 %22, 0
  br i1 %23, label %24, label %27

24:                                               ; preds = %19, %24
  call void asm sideeffect "yield", ""() #8
  %25 = load atomic i64, ptr @the_pool seq_cst, align 8
  %26 = icmp eq i64 %25, 0
  br i1 %26, label %24, label %27

27:                                               ; preds = %24, %19
  %28 = phi i64 [ %22, %19 ], [ %25, %24 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #8
  br label %32

29:                                               ; preds = %15
  store i32 %18, ptr @key, align 4
  store i32 %10, ptr @inherited, align 4
  %30 = ptrtoint ptr %5 to i64
  store atomic i64 %30, ptr @the_pool seq_cst, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #8
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
  %45 = call i32 @getpid() #8
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
  %56 = call i32 @sched_getaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %55) #8
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %58, label %60

58:                                               ; preds = %54
  %59 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %55) #8
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
  %68 = call i32 @getpid() #8
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
declare ptr @pthread_getspecific(i32 noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @pthread_setspecific(i32 noundef, ptr noundef) local_unnamed_addr #1

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
  %7 = tail call ptr @pthread_getspecific(i32 noundef %6) #8
  %8 = icmp eq ptr %7, %0
  br i1 %8, label %9, label %19

9:                                                ; preds = %5
  %10 = load i32, ptr @key, align 4
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %12 = load ptr, ptr %11, align 8
  %13 = tail call i32 @pthread_setspecific(i32 noundef %10, ptr noundef %12) #8
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
  call void @llvm.lifetime.start.p0(ptr nonnull %16) #8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %16, ptr noundef nonnull align 8 dereferenceable(16) @__const.tw_parallel.unknown, i64 16, i1 false)
  %17 = tail call fastcc ptr @ready_pool()
  %18 = icmp eq ptr %17, null
  br i1 %18, label %46, label %19

19:                                               ; preds = %6
  %20 = load i32, ptr @key, align 4
  %21 = tail call ptr @pthread_getspecific(i32 noundef %20) #8
  %22 = icmp eq ptr %21, null
  br i1 %22, label %23, label %26

23:                                               ; preds = %19
  %24 = load i32, ptr @key, align 4
  %25 = call i32 @pthread_setspecific(i32 noundef %24, ptr noundef nonnull %16) #8
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
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #8
  store i32 %51, ptr %50, align 4
  br label %514

52:                                               ; preds = %41
  call void @llvm.lifetime.start.p0(ptr nonnull %15) #8
  %53 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %15) #8
  %54 = load i64, ptr %15, align 8
  %55 = mul nsw i64 %54, 1000000000
  %56 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %57 = load i64, ptr %56, align 8
  %58 = add nsw i64 %55, %57
  call void @llvm.lifetime.end.p0(ptr nonnull %15) #8
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
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #8
  %92 = call i32 @sigfillset(ptr noundef nonnull %11) #8
  %93 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %11, ptr noundef nonnull %12) #8
  %94 = call i32 @pthread_attr_init(ptr noundef nonnull %13) #8
  %95 = call i32 @pthread_attr_setdetachstate(ptr noundef nonnull %13, i32 noundef 1) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #8
  %96 = load atomic i32, ptr %84 seq_cst, align 4
  %97 = icmp slt i32 %96, %83
  br i1 %97, label %98, label %110

98:                                               ; preds = %91, %106
  %99 = phi i32 [ %107, %106 ], [ %83, %91 ]
  %100 = call i32 @pthread_create(ptr noundef nonnull %14, ptr noundef nonnull %13, ptr noundef nonnull @worker, ptr noundef nonnull %17) #8
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
  %111 = call i32 @pthread_attr_destroy(ptr noundef nonnull %13) #8
  %112 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %12, ptr noundef null) #8
  store atomic i32 0, ptr %88 seq_cst, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #8
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #8
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #8
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #8
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
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #8
  store i32 %295, ptr %43, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #8
  %296 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #8
  %297 = load i64, ptr %10, align 8
  %298 = mul nsw i64 %297, 1000000000
  %299 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %300 = load i64, ptr %299, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #8
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
  %321 = call i32 @sched_getcpu() #8
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
  %360 = call i32 @sched_getcpu() #8
  store atomic i32 %360, ptr %359 monotonic, align 4
  %361 = getelementptr inbounds nuw i8, ptr %17, i64 640
  %362 = atomicrmw add ptr %361, i32 1 seq_cst, align 128
  %363 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %361, i32 noundef 129, i32 noundef range(i32 1, 3) %153, ptr noundef null, ptr noundef null, i32 noundef 0) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #8
  %364 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %9) #8
  %365 = load i64, ptr %9, align 8
  %366 = mul nsw i64 %365, 1000000000
  %367 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %368 = load i64, ptr %367, align 8
  %369 = add nsw i64 %366, %368
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #8
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
  call void %428(ptr noundef %429, i64 noundef %425, i64 noundef %427, i64 noundef 0) #8
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
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #8
  %437 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #8
  %438 = load i64, ptr %8, align 8
  %439 = mul nsw i64 %438, 1000000000
  %440 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %441 = load i64, ptr %440, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #8
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
  call void asm sideeffect "yield", ""() #8
  %469 = and i32 %464, 15
  %470 = icmp eq i32 %469, 0
  br i1 %470, label %471, label %491

471:                                              ; preds = %468
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #8
  %472 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %7) #8
  %473 = load i64, ptr %7, align 8
  %474 = mul nsw i64 %473, 1000000000
  %475 = load i64, ptr %460, align 8
  %476 = add nsw i64 %474, %475
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #8
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
  %490 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %322, i32 noundef 128, i32 noundef %489, ptr noundef null, ptr noundef null, i32 noundef 0) #8
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
  %519 = call i32 @pthread_setspecific(i32 noundef %518, ptr noundef null) #8
  br label %520

520:                                              ; preds = %517, %514
  call void @llvm.lifetime.end.p0(ptr nonnull %16) #8
  ret void
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #3

; Function Attrs: nounwind
define void @tw_call(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2, ptr noundef %3, i32 noundef %4) local_unnamed_addr #1 {
  %6 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #8
  %7 = tail call fastcc ptr @ready_pool()
  store i32 %4, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %6, i64 4
  store i32 0, ptr %8, align 4
  %9 = getelementptr inbounds nuw i8, ptr %6, i64 8
  store ptr null, ptr %9, align 8
  %10 = icmp eq ptr %7, null
  br i1 %10, label %26, label %11

11:                                               ; preds = %5
  %12 = load i32, ptr @key, align 4
  %13 = tail call ptr @pthread_getspecific(i32 noundef %12) #8
  store ptr %13, ptr %9, align 8
  %14 = icmp eq ptr %13, null
  br i1 %14, label %18, label %15

15:                                               ; preds = %11
  %16 = getelementptr inbounds nuw i8, ptr %13, i64 4
  %17 = load i32, ptr %16, align 4
  store i32 %17, ptr %8, align 4
  br label %18

18:                                               ; preds = %15, %11
  %19 = load i32, ptr @key, align 4
  %20 = call i32 @pthread_setspecific(i32 noundef %19, ptr noundef nonnull %6) #8
  %21 = load ptr, ptr %9, align 8
  %22 = icmp eq ptr %21, null
  br i1 %22, label %23, label %26

23:                                               ; preds = %18
  %24 = getelementptr inbounds nuw i8, ptr %7, i64 256
  %25 = atomicrmw add ptr %24, i32 1 monotonic, align 128
  br label %26

26:                                               ; preds = %5, %18, %23
  %27 = call i64 asm sideeffect "mrs $0, fpcr", "=r"() #8
  %28 = or i64 %27, 16777216
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %28) #8
  call void %0(ptr noundef %1, ptr noundef %2, ptr noundef %3) #8
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %27) #8
  %29 = load atomic i64, ptr @the_pool acquire, align 8
  %30 = inttoptr i64 %29 to ptr
  %31 = icmp eq i64 %29, 0
  br i1 %31, label %45, label %32

32:                                               ; preds = %26
  %33 = load i32, ptr @key, align 4
  %34 = call ptr @pthread_getspecific(i32 noundef %33) #8
  %35 = icmp eq ptr %34, %6
  br i1 %35, label %36, label %45

36:                                               ; preds = %32
  %37 = load i32, ptr @key, align 4
  %38 = load ptr, ptr %9, align 8
  %39 = call i32 @pthread_setspecific(i32 noundef %37, ptr noundef %38) #8
  %40 = load ptr, ptr %9, align 8
  %41 = icmp eq ptr %40, null
  br i1 %41, label %42, label %45

42:                                               ; preds = %36
  %43 = getelementptr inbounds nuw i8, ptr %30, i64 256
  %44 = atomicrmw sub ptr %43, i32 1 monotonic, align 128
  br label %45

45:                                               ; preds = %26, %32, %36, %42
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #8
  ret void
}

; Function Attrs: nounwind
define range(i64 -9223372036854775807, -9223372036854775808) i64 @tw_bench(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2, ptr noundef %3, i32 noundef %4, ptr noundef %5, i32 noundef %6, i64 noundef %7, i64 noundef %8, ptr noundef writeonly captures(none) %9) local_unnamed_addr #1 {
  %11 = alloca %struct.timespec, align 8
  %12 = alloca %struct.timespec, align 8
  %13 = alloca %struct.timespec, align 8
  %14 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #8
  %15 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %16 = load i64, ptr %15, align 8
  %17 = icmp sgt i64 %16, 0
  br i1 %17, label %56, label %18

18:                                               ; preds = %56, %10
  %19 = phi i64 [ 0, %10 ], [ %62, %56 ]
  %20 = tail call fastcc ptr @ready_pool()
  store i32 %4, ptr %14, align 8
  %21 = getelementptr inbounds nuw i8, ptr %14, i64 4
  store i32 0, ptr %21, align 4
  %22 = getelementptr inbounds nuw i8, ptr %14, i64 8
  store ptr null, ptr %22, align 8
  %23 = icmp eq ptr %20, null
  br i1 %23, label %39, label %24

24:                                               ; preds = %18
  %25 = load i32, ptr @key, align 4
  %26 = tail call ptr @pthread_getspecific(i32 noundef %25) #8
  store ptr %26, ptr %22, align 8
  %27 = icmp eq ptr %26, null
  br i1 %27, label %31, label %28

28:                                               ; preds = %24
  %29 = getelementptr inbounds nuw i8, ptr %26, i64 4
  %30 = load i32, ptr %29, align 4
  store i32 %30, ptr %21, align 4
  br label %31

31:                                               ; preds = %28, %24
  %32 = load i32, ptr @key, align 4
  %33 = call i32 @pthread_setspecific(i32 noundef %32, ptr noundef nonnull %14) #8
  %34 = load ptr, ptr %22, align 8
  %35 = icmp eq ptr %34, null
  br i1 %35, label %36, label %39

36:                                               ; preds = %31
  %37 = getelementptr inbounds nuw i8, ptr %20, i64 256
  %38 = atomicrmw add ptr %37, i32 1 monotonic, align 128
  br label %39

39:                                               ; preds = %18, %31, %36
  %40 = call i64 asm sideeffect "mrs $0, fpcr", "=r"() #8
  %41 = or i64 %40, 16777216
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %41) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #8
  %42 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %13) #8
  %43 = load i64, ptr %13, align 8
  %44 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %45 = load i64, ptr %44, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #8
  %46 = icmp sgt i32 %6, 0
  %47 = icmp ne i64 %19, 0
  %48 = select i1 %46, i1 %47, i1 false
  %49 = add i64 %19, -1
  %50 = zext nneg i32 %6 to i64
  %51 = add i64 %49, %50
  %52 = getelementptr inbounds nuw i8, ptr %12, i64 8
  %53 = getelementptr inbounds nuw i8, ptr %11, i64 8
  %54 = mul i64 %43, -1000000000
  %55 = sub i64 %54, %45
  br label %67

56:                                               ; preds = %10, %56
  %57 = phi i64 [ %65, %56 ], [ %16, %10 ]
  %58 = phi i64 [ %62, %56 ], [ 0, %10 ]
  %59 = phi ptr [ %63, %56 ], [ %5, %10 ]
  %60 = add nuw nsw i64 %57, 4095
  %61 = lshr i64 %60, 12
  %62 = add nuw nsw i64 %61, %58
  %63 = getelementptr inbounds nuw i8, ptr %59, i64 16
  %64 = getelementptr inbounds nuw i8, ptr %59, i64 24
  %65 = load i64, ptr %64, align 8
  %66 = icmp sgt i64 %65, 0
  br i1 %66, label %56, label %18

67:                                               ; preds = %71, %39
  %68 = phi i64 [ 0, %39 ], [ %85, %71 ]
  br i1 %48, label %69, label %71

69:                                               ; preds = %67
  store i32 %6, ptr %14, align 8
  %70 = sdiv i64 %51, %50
  call void @tw_parallel(ptr noundef nonnull @read_pages, ptr noundef %5, i64 noundef %19, i64 noundef %70, i32 noundef %6, ptr noundef null)
  store i32 %4, ptr %14, align 8
  br label %71

71:                                               ; preds = %69, %67
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #8
  %72 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %12) #8
  %73 = load i64, ptr %12, align 8
  %74 = load i64, ptr %52, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #8
  call void %0(ptr noundef %1, ptr noundef %2, ptr noundef %3) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #8
  %75 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %11) #8
  %76 = load i64, ptr %11, align 8
  %77 = mul nsw i64 %76, 1000000000
  %78 = load i64, ptr %53, align 8
  %79 = add nsw i64 %77, %78
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #8
  %80 = mul i64 %73, -1000000000
  %81 = sub i64 %80, %74
  %82 = add i64 %81, %79
  %83 = sitofp i64 %82 to double
  %84 = fmul double %83, 1.000000e-09
  %85 = add nuw nsw i64 %68, 1
  %86 = getelementptr inbounds nuw double, ptr %9, i64 %68
  store double %84, ptr %86, align 8
  %87 = icmp slt i64 %85, %7
  %88 = add i64 %55, %79
  %89 = icmp slt i64 %88, %8
  %90 = select i1 %87, i1 %89, i1 false
  br i1 %90, label %67, label %91

91:                                               ; preds = %71
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %40) #8
  %92 = load atomic i64, ptr @the_pool acquire, align 8
  %93 = inttoptr i64 %92 to ptr
  %94 = icmp eq i64 %92, 0
  br i1 %94, label %108, label %95

95:                                               ; preds = %91
  %96 = load i32, ptr @key, align 4
  %97 = call ptr @pthread_getspecific(i32 noundef %96) #8
  %98 = icmp eq ptr %97, %14
  br i1 %98, label %99, label %108

99:                                               ; preds = %95
  %100 = load i32, ptr @key, align 4
  %101 = load ptr, ptr %22, align 8
  %102 = call i32 @pthread_setspecific(i32 noundef %100, ptr noundef %101) #8
  %103 = load ptr, ptr %22, align 8
  %104 = icmp eq ptr %103, null
  br i1 %104, label %105, label %108

105:                                              ; preds = %99
  %106 = getelementptr inbounds nuw i8, ptr %93, i64 256
  %107 = atomicrmw sub ptr %106, i32 1 monotonic, align 128
  br label %108

108:                                              ; preds = %91, %95, %99, %105
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #8
  ret i64 %85
}

; Function Attrs: nofree norecurse nounwind memory(readwrite, target_mem0: none, target_mem1: none)
define internal void @read_pages(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, i64 %3) #4 {
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
declare i32 @getpid() local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #5

; Function Attrs: nounwind
declare ptr @mmap(ptr noundef, i64 noundef, i32 noundef, i32 noundef, i32 noundef, i64 noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @madvise(ptr noundef, i64 noundef, i32 noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @pthread_key_create(ptr noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @munmap(ptr noundef, i64 noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @pthread_key_delete(i32 noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @sched_getaffinity(i32 noundef, i64 noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @__sched_cpucount(i64 noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @sigfillset(ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @pthread_sigmask(i32 noundef, ptr noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @pthread_attr_init(ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @pthread_attr_setdetachstate(ptr noundef, i32 noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: noreturn nounwind
define internal noalias noundef nonnull ptr @worker(ptr noundef %0) #6 {
  %2 = alloca %struct.timespec, align 8
  %3 = alloca %struct.cpu_set_t, align 8
  %4 = alloca %struct.cpu_set_t, align 8
  %5 = alloca %struct.timespec, align 8
  %6 = alloca %struct.timespec, align 8
  %7 = alloca %struct.cpu_set_t, align 8
  %8 = alloca %struct.timespec, align 8
  %9 = alloca %struct.cpu_set_t, align 8
  %10 = alloca %struct.timespec, align 8
  %11 = alloca %struct.worker, align 8
  %12 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #8
  %13 = getelementptr inbounds nuw i8, ptr %11, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(144) %13, i8 0, i64 144, i1 false)
  store ptr %0, ptr %11, align 8
  %14 = getelementptr inbounds nuw i8, ptr %11, i64 136
  store i64 -1, ptr %14, align 8
  %15 = getelementptr inbounds nuw i8, ptr %11, i64 144
  store i32 -1, ptr %15, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %12, ptr noundef nonnull align 8 dereferenceable(16) @__const.worker.caller, i64 16, i1 false)
  %16 = load i32, ptr @key, align 4
  %17 = call i32 @pthread_setspecific(i32 noundef %16, ptr noundef nonnull %12) #8
  %18 = call i64 asm sideeffect "mrs $0, fpcr", "=r"() #8
  %19 = or i64 %18, 16777216
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %19) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #8
  %20 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #8
  %21 = load i64, ptr %10, align 8
  %22 = mul nsw i64 %21, 1000000000
  %23 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %24 = load i64, ptr %23, align 8
  %25 = add nsw i64 %22, %24
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #8
  %26 = getelementptr inbounds nuw i8, ptr %11, i64 8
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 384
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 4
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 768
  %32 = getelementptr inbounds nuw i8, ptr %11, i64 148
  %33 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %34 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %35 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %36 = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %37

37:                                               ; preds = %377, %1
  %38 = phi i32 [ 1, %1 ], [ %379, %377 ]
  %39 = phi i64 [ %25, %1 ], [ %378, %377 ]
  %40 = load atomic i32, ptr %27 monotonic, align 128
  %41 = load atomic i32, ptr %28 monotonic, align 128
  %42 = add nsw i32 %41, %40
  %43 = load i32, ptr %29, align 4
  %44 = icmp slt i32 %42, %43
  br i1 %44, label %45, label %277

45:                                               ; preds = %37
  %46 = load atomic i32, ptr %30 acquire, align 8
  %47 = icmp sgt i32 %46, 0
  br i1 %47, label %48, label %277

48:                                               ; preds = %45
  %49 = zext nneg i32 %46 to i64
  br label %50

50:                                               ; preds = %63, %48
  %51 = phi i64 [ 0, %48 ], [ %64, %63 ]
  %52 = getelementptr inbounds nuw %struct.region, ptr %31, i64 %51
  %53 = load atomic i64, ptr %52 acquire, align 128
  %54 = lshr i64 %53, 32
  %55 = getelementptr inbounds nuw i64, ptr %26, i64 %51
  %56 = load i64, ptr %55, align 8
  %57 = icmp eq i64 %54, %56
  br i1 %57, label %63, label %58

58:                                               ; preds = %50
  %59 = and i64 %53, 65535
  %60 = lshr i64 %53, 16
  %61 = and i64 %60, 65535
  %62 = icmp samesign ult i64 %59, %61
  br i1 %62, label %66, label %63

63:                                               ; preds = %58, %50
  %64 = add nuw nsw i64 %51, 1
  %65 = icmp eq i64 %64, %49
  br i1 %65, label %277, label %50

66:                                               ; preds = %58
  %67 = load ptr, ptr %11, align 8
  %68 = getelementptr inbounds nuw i8, ptr %52, i64 56
  %69 = load atomic i32, ptr %68 monotonic, align 8
  store i32 %69, ptr %15, align 8
  %70 = call i32 @sched_getcpu() #8
  %71 = icmp eq i32 %70, %69
  br i1 %71, label %72, label %90

72:                                               ; preds = %66
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #8
  %73 = getelementptr inbounds nuw i8, ptr %67, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %9, ptr noundef nonnull readonly align 8 dereferenceable(128) %73, i64 128, i1 false)
  %74 = icmp ult i32 %69, 1024
  br i1 %74, label %75, label %84

75:                                               ; preds = %72
  %76 = zext nneg i32 %69 to i64
  %77 = and i64 %76, 63
  %78 = shl nuw i64 1, %77
  %79 = xor i64 %78, -1
  %80 = lshr i64 %76, 6
  %81 = getelementptr inbounds nuw i64, ptr %9, i64 %80
  %82 = load i64, ptr %81, align 8
  %83 = and i64 %82, %79
  store i64 %83, ptr %81, align 8
  br label %84

84:                                               ; preds = %75, %72
  %85 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %9) #8
  %86 = icmp sgt i32 %85, 0
  br i1 %86, label %87, label %89

87:                                               ; preds = %84
  %88 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %9) #8
  br label %89

89:                                               ; preds = %87, %84
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #8
  store i32 1, ptr %32, align 4
  br label %90

90:                                               ; preds = %89, %66
  %91 = load atomic i64, ptr %52 seq_cst, align 128
  %92 = lshr i64 %91, 32
  %93 = getelementptr inbounds nuw i8, ptr %67, i64 768
  %94 = ptrtoint ptr %52 to i64
  %95 = ptrtoint ptr %93 to i64
  %96 = sub i64 %94, %95
  %97 = sdiv exact i64 %96, 4144
  %98 = getelementptr inbounds i8, ptr %26, i64 %97
  store i64 %92, ptr %98, align 8
  %99 = getelementptr inbounds nuw i8, ptr %67, i64 384
  %100 = atomicrmw add ptr %99, i32 1 monotonic, align 128
  %101 = load i64, ptr %14, align 8
  %102 = load atomic i64, ptr %52 acquire, align 128
  %103 = lshr i64 %102, 32
  %104 = trunc i64 %102 to i32
  %105 = lshr i32 %104, 16
  %106 = zext nneg i32 %105 to i64
  br label %107

107:                                              ; preds = %114, %90
  %108 = phi i64 [ %102, %90 ], [ %118, %114 ]
  %109 = lshr i64 %108, 32
  %110 = icmp eq i64 %109, %103
  %111 = and i64 %108, 65535
  %112 = icmp samesign ult i64 %111, %106
  %113 = select i1 %110, i1 %112, i1 false
  br i1 %113, label %114, label %260

114:                                              ; preds = %107
  %115 = add i64 %108, 1
  %116 = cmpxchg weak ptr %52, i64 %108, i64 %115 acq_rel acquire, align 128
  %117 = extractvalue { i64, i1 } %116, 1
  %118 = extractvalue { i64, i1 } %116, 0
  br i1 %117, label %119, label %107

119:                                              ; preds = %114
  %120 = trunc i64 %108 to i32
  %121 = and i32 %120, 65535
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #8
  %122 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #8
  %123 = load i64, ptr %8, align 8
  %124 = mul nsw i64 %123, 1000000000
  %125 = load i64, ptr %33, align 8
  %126 = add nsw i64 %124, %125
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #8
  %127 = icmp slt i64 %101, 0
  %128 = add nuw nsw i32 %121, 1
  %129 = icmp samesign ult i32 %128, %105
  %130 = select i1 %127, i1 %129, i1 false
  br i1 %130, label %131, label %141

131:                                              ; preds = %119
  %132 = getelementptr inbounds nuw i8, ptr %67, i64 512
  %133 = load atomic i32, ptr %132 seq_cst, align 128
  %134 = icmp sgt i32 %133, 0
  br i1 %134, label %135, label %141

135:                                              ; preds = %131
  %136 = getelementptr inbounds nuw i8, ptr %67, i64 644
  %137 = call i32 @sched_getcpu() #8
  store atomic i32 %137, ptr %136 monotonic, align 4
  %138 = getelementptr inbounds nuw i8, ptr %67, i64 640
  %139 = atomicrmw add ptr %138, i32 1 seq_cst, align 128
  %140 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %138, i32 noundef 129, i32 noundef range(i32 1, 3) 2, ptr noundef null, ptr noundef null, i32 noundef 0) #8
  br label %141

141:                                              ; preds = %135, %131, %119
  %142 = getelementptr inbounds nuw i8, ptr %52, i64 384
  %143 = getelementptr inbounds nuw i8, ptr %52, i64 24
  %144 = zext nneg i32 %105 to i128
  %145 = getelementptr inbounds nuw i8, ptr %52, i64 32
  %146 = getelementptr inbounds nuw i8, ptr %52, i64 8
  %147 = getelementptr inbounds nuw i8, ptr %52, i64 16
  %148 = icmp eq ptr %67, null
  %149 = getelementptr inbounds nuw i8, ptr %67, i64 256
  %150 = getelementptr inbounds nuw i8, ptr %67, i64 4
  br label %151

151:                                              ; preds = %215, %141
  %152 = phi i32 [ 0, %141 ], [ %166, %215 ]
  %153 = phi i32 [ 0, %141 ], [ %216, %215 ]
  %154 = add nuw nsw i32 %153, %121
  %155 = urem i32 %154, %105
  %156 = zext nneg i32 %155 to i64
  %157 = getelementptr inbounds nuw %struct.steps, ptr %142, i64 %156
  %158 = load atomic i64, ptr %157 acquire, align 8
  %159 = zext nneg i32 %155 to i128
  %160 = add nuw nsw i32 %155, 1
  %161 = zext nneg i32 %160 to i128
  br label %162

162:                                              ; preds = %213, %151
  %163 = phi i64 [ %191, %213 ], [ -1, %151 ]
  %164 = phi i64 [ %192, %213 ], [ 0, %151 ]
  %165 = phi i64 [ %214, %213 ], [ %158, %151 ]
  %166 = phi i32 [ %206, %213 ], [ %152, %151 ]
  br label %167

167:                                              ; preds = %174, %162
  %168 = phi i64 [ %178, %174 ], [ %165, %162 ]
  %169 = lshr i64 %168, 32
  %170 = icmp ne i64 %169, %103
  %171 = and i64 %168, 4294967295
  %172 = icmp eq i64 %171, 0
  %173 = or i1 %170, %172
  br i1 %173, label %215, label %174

174:                                              ; preds = %167
  %175 = add i64 %168, -1
  %176 = cmpxchg weak ptr %157, i64 %168, i64 %175 acq_rel acquire, align 8
  %177 = extractvalue { i64, i1 } %176, 1
  %178 = extractvalue { i64, i1 } %176, 0
  br i1 %177, label %179, label %167

179:                                              ; preds = %174
  %180 = icmp slt i64 %163, 0
  br i1 %180, label %181, label %190

181:                                              ; preds = %179
  %182 = load i64, ptr %143, align 8
  %183 = sext i64 %182 to i128
  %184 = mul nsw i128 %183, %159
  %185 = sdiv i128 %184, %144
  %186 = trunc i128 %185 to i64
  %187 = mul nsw i128 %183, %161
  %188 = sdiv i128 %187, %144
  %189 = trunc i128 %188 to i64
  br label %190

190:                                              ; preds = %181, %179
  %191 = phi i64 [ %189, %181 ], [ %163, %179 ]
  %192 = phi i64 [ %186, %181 ], [ %164, %179 ]
  %193 = load i64, ptr %145, align 32
  %194 = xor i64 %192, -1
  %195 = add i64 %191, %194
  %196 = add i64 %195, %193
  %197 = sdiv i64 %196, %193
  %198 = sub i64 %197, %168
  %199 = and i64 %198, 4294967295
  %200 = mul nsw i64 %199, %193
  %201 = add nsw i64 %200, %192
  %202 = add nsw i64 %201, %193
  %203 = call i64 @llvm.smin.i64(i64 %202, i64 %191)
  %204 = load ptr, ptr %146, align 8
  %205 = load ptr, ptr %147, align 16
  call void %204(ptr noundef %205, i64 noundef %201, i64 noundef %203, i64 noundef %111) #8
  %206 = add i32 %166, 1
  br i1 %148, label %213, label %207

207:                                              ; preds = %190
  %208 = load atomic i32, ptr %149 monotonic, align 128
  %209 = load atomic i32, ptr %99 monotonic, align 128
  %210 = add nsw i32 %209, %208
  %211 = load i32, ptr %150, align 4
  %212 = icmp sgt i32 %210, %211
  br i1 %212, label %218, label %213

213:                                              ; preds = %207, %190
  %214 = load atomic i64, ptr %157 acquire, align 8
  br label %162

215:                                              ; preds = %167
  %216 = add nuw nsw i32 %153, 1
  %217 = icmp eq i32 %216, %105
  br i1 %217, label %218, label %151

218:                                              ; preds = %215, %207
  %219 = phi i32 [ %206, %207 ], [ %166, %215 ]
  %220 = icmp eq i32 %219, 0
  br i1 %220, label %260, label %221

221:                                              ; preds = %218
  %222 = getelementptr inbounds nuw i8, ptr %52, i64 40
  %223 = load i32, ptr %222, align 8
  %224 = getelementptr inbounds nuw i8, ptr %52, i64 48
  %225 = load atomic i64, ptr %224 monotonic, align 16
  %226 = sub i64 %126, %225
  br i1 %127, label %227, label %237

227:                                              ; preds = %221
  %228 = getelementptr inbounds nuw i8, ptr %67, i64 168
  %229 = load atomic i64, ptr %228 monotonic, align 8
  %230 = shl nsw i64 %229, 3
  %231 = icmp sgt i64 %226, %230
  br i1 %231, label %249, label %232

232:                                              ; preds = %227
  %233 = sub nsw i64 %226, %229
  %234 = sdiv i64 %233, 8
  %235 = add nsw i64 %234, %229
  %236 = call i64 @llvm.smax.i64(i64 %235, i64 50)
  store atomic i64 %236, ptr %228 monotonic, align 8
  br label %249

237:                                              ; preds = %221
  %238 = icmp slt i64 %101, %225
  br i1 %238, label %239, label %249

239:                                              ; preds = %237
  %240 = getelementptr inbounds nuw i8, ptr %67, i64 160
  %241 = load atomic i64, ptr %240 monotonic, align 8
  %242 = shl nsw i64 %241, 3
  %243 = icmp sgt i64 %226, %242
  br i1 %243, label %249, label %244

244:                                              ; preds = %239
  %245 = sub nsw i64 %226, %241
  %246 = sdiv i64 %245, 8
  %247 = add nsw i64 %246, %241
  %248 = call i64 @llvm.smax.i64(i64 %247, i64 50)
  store atomic i64 %248, ptr %240 monotonic, align 8
  br label %249

249:                                              ; preds = %244, %239, %237, %232, %227
  %250 = getelementptr inbounds nuw i8, ptr %52, i64 128
  %251 = atomicrmw add ptr %250, i32 %219 acq_rel, align 128
  %252 = and i32 %251, 1073741824
  %253 = icmp eq i32 %252, 0
  br i1 %253, label %260, label %254

254:                                              ; preds = %249
  %255 = and i32 %251, -1073741825
  %256 = add i32 %255, %219
  %257 = icmp eq i32 %256, %223
  br i1 %257, label %258, label %260

258:                                              ; preds = %254
  %259 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %250, i32 noundef 129, i32 noundef 1, ptr noundef null, ptr noundef null, i32 noundef 0) #8
  br label %260

260:                                              ; preds = %107, %258, %254, %249, %218
  %261 = atomicrmw sub ptr %99, i32 1 monotonic, align 128
  %262 = load i32, ptr %32, align 4
  %263 = icmp eq i32 %262, 0
  br i1 %263, label %271, label %264

264:                                              ; preds = %260
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #8
  %265 = getelementptr inbounds nuw i8, ptr %67, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %7, ptr noundef nonnull readonly align 8 dereferenceable(128) %265, i64 128, i1 false)
  %266 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %7) #8
  %267 = icmp sgt i32 %266, 0
  br i1 %267, label %268, label %270

268:                                              ; preds = %264
  %269 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %7) #8
  br label %270

270:                                              ; preds = %268, %264
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #8
  br label %271

271:                                              ; preds = %260, %270
  store i32 0, ptr %32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #8
  %272 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %6) #8
  %273 = load i64, ptr %6, align 8
  %274 = mul nsw i64 %273, 1000000000
  %275 = load i64, ptr %34, align 8
  %276 = add nsw i64 %274, %275
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #8
  store i64 %276, ptr %14, align 8
  br label %377

277:                                              ; preds = %63, %37, %45
  call void asm sideeffect "yield", ""() #8
  %278 = and i32 %38, 15
  %279 = icmp eq i32 %278, 0
  br i1 %279, label %280, label %377

280:                                              ; preds = %277
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #8
  %281 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %5) #8
  %282 = load i64, ptr %5, align 8
  %283 = mul nsw i64 %282, 1000000000
  %284 = load i64, ptr %35, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #8
  %285 = sub i64 %284, %39
  %286 = add i64 %285, %283
  %287 = icmp slt i64 %286, 100000
  br i1 %287, label %377, label %288

288:                                              ; preds = %280
  %289 = load ptr, ptr %11, align 8
  %290 = getelementptr inbounds nuw i8, ptr %289, i64 640
  %291 = load atomic i32, ptr %290 seq_cst, align 128
  %292 = load ptr, ptr %11, align 8
  %293 = load i32, ptr %15, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #8
  %294 = getelementptr inbounds nuw i8, ptr %292, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %4, ptr noundef nonnull readonly align 8 dereferenceable(128) %294, i64 128, i1 false)
  %295 = icmp ult i32 %293, 1024
  br i1 %295, label %296, label %305

296:                                              ; preds = %288
  %297 = zext nneg i32 %293 to i64
  %298 = and i64 %297, 63
  %299 = shl nuw i64 1, %298
  %300 = xor i64 %299, -1
  %301 = lshr i64 %297, 6
  %302 = getelementptr inbounds nuw i64, ptr %4, i64 %301
  %303 = load i64, ptr %302, align 8
  %304 = and i64 %303, %300
  store i64 %304, ptr %302, align 8
  br label %305

305:                                              ; preds = %296, %288
  %306 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %4) #8
  %307 = icmp sgt i32 %306, 0
  br i1 %307, label %308, label %310

308:                                              ; preds = %305
  %309 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %4) #8
  br label %310

310:                                              ; preds = %308, %305
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #8
  store i32 1, ptr %32, align 4
  %311 = getelementptr inbounds nuw i8, ptr %289, i64 512
  %312 = atomicrmw add ptr %311, i32 1 seq_cst, align 128
  %313 = getelementptr inbounds nuw i8, ptr %289, i64 256
  %314 = load atomic i32, ptr %313 monotonic, align 128
  %315 = getelementptr inbounds nuw i8, ptr %289, i64 384
  %316 = load atomic i32, ptr %315 monotonic, align 128
  %317 = add nsw i32 %316, %314
  %318 = getelementptr inbounds nuw i8, ptr %289, i64 4
  %319 = load i32, ptr %318, align 4
  %320 = icmp slt i32 %317, %319
  br i1 %320, label %321, label %344

321:                                              ; preds = %310
  %322 = getelementptr inbounds nuw i8, ptr %289, i64 152
  %323 = load atomic i32, ptr %322 acquire, align 8
  %324 = icmp sgt i32 %323, 0
  br i1 %324, label %325, label %344

325:                                              ; preds = %321
  %326 = getelementptr inbounds nuw i8, ptr %289, i64 768
  %327 = zext nneg i32 %323 to i64
  br label %328

328:                                              ; preds = %341, %325
  %329 = phi i64 [ 0, %325 ], [ %342, %341 ]
  %330 = getelementptr inbounds nuw %struct.region, ptr %326, i64 %329
  %331 = load atomic i64, ptr %330 acquire, align 128
  %332 = lshr i64 %331, 32
  %333 = getelementptr inbounds nuw i64, ptr %26, i64 %329
  %334 = load i64, ptr %333, align 8
  %335 = icmp eq i64 %332, %334
  br i1 %335, label %341, label %336

336:                                              ; preds = %328
  %337 = and i64 %331, 65535
  %338 = lshr i64 %331, 16
  %339 = and i64 %338, 65535
  %340 = icmp samesign ult i64 %337, %339
  br i1 %340, label %346, label %341

341:                                              ; preds = %336, %328
  %342 = add nuw nsw i64 %329, 1
  %343 = icmp eq i64 %342, %327
  br i1 %343, label %344, label %328

344:                                              ; preds = %341, %321, %310
  %345 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %290, i32 noundef 128, i32 noundef %291, ptr noundef null, ptr noundef null, i32 noundef 0) #8
  br label %346

346:                                              ; preds = %336, %344
  %347 = atomicrmw sub ptr %311, i32 1 seq_cst, align 128
  %348 = getelementptr inbounds nuw i8, ptr %289, i64 644
  %349 = load atomic i32, ptr %348 monotonic, align 4
  store i32 %349, ptr %15, align 8
  %350 = call i32 @sched_getcpu() #8
  %351 = icmp eq i32 %350, %349
  br i1 %351, label %352, label %371

352:                                              ; preds = %346
  %353 = load ptr, ptr %11, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #8
  %354 = getelementptr inbounds nuw i8, ptr %353, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %3, ptr noundef nonnull readonly align 8 dereferenceable(128) %354, i64 128, i1 false)
  %355 = icmp ult i32 %349, 1024
  br i1 %355, label %356, label %365

356:                                              ; preds = %352
  %357 = zext nneg i32 %349 to i64
  %358 = and i64 %357, 63
  %359 = shl nuw i64 1, %358
  %360 = xor i64 %359, -1
  %361 = lshr i64 %357, 6
  %362 = getelementptr inbounds nuw i64, ptr %3, i64 %361
  %363 = load i64, ptr %362, align 8
  %364 = and i64 %363, %360
  store i64 %364, ptr %362, align 8
  br label %365

365:                                              ; preds = %356, %352
  %366 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %3) #8
  %367 = icmp sgt i32 %366, 0
  br i1 %367, label %368, label %370

368:                                              ; preds = %365
  %369 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %3) #8
  br label %370

370:                                              ; preds = %368, %365
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #8
  store i32 1, ptr %32, align 4
  br label %371

371:                                              ; preds = %346, %370
  store i64 -1, ptr %14, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %2) #8
  %372 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %2) #8
  %373 = load i64, ptr %2, align 8
  %374 = mul nsw i64 %373, 1000000000
  %375 = load i64, ptr %36, align 8
  %376 = add nsw i64 %374, %375
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #8
  br label %377

377:                                              ; preds = %277, %280, %371, %271
  %378 = phi i64 [ %276, %271 ], [ %376, %371 ], [ %39, %280 ], [ %39, %277 ]
  %379 = add i32 %38, 1
  br label %37
}

; Function Attrs: nounwind
declare i32 @pthread_attr_destroy(ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @sched_getcpu() local_unnamed_addr #1

; Function Attrs: nounwind
declare i64 @syscall(i64 noundef, ...) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @sched_setaffinity(i32 noundef, i64 noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @clock_gettime(i32 noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smin.i32(i32, i32) #7

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #7

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smin.i64(i64, i64) #7

attributes #0 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: none, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-trapping-math"="true" }
attributes #1 = { nounwind "no-trapping-math"="true" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #4 = { nofree norecurse nounwind memory(readwrite, target_mem0: none, target_mem1: none) "no-trapping-math"="true" }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #6 = { noreturn nounwind "no-trapping-math"="true" }
attributes #7 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #8 = { nounwind }


