
%struct.tw_caller = type { i32, i32, ptr }
%struct.timespec = type { i64, i64 }
%struct.__sigset_t = type { [16 x i64] }
%union.pthread_attr_t = type { i64, [56 x i8] }
%struct.steps = type { i64, [120 x i8] }
%struct.cpu_set_t = type { [16 x i64] }
%struct.region = type { i64, ptr, ptr, i64, i64, i32, i64, i32, [68 x i8], i32, [124 x i8], i32, i32, [120 x i8], [256 x %struct.steps] }

@cores_limit = internal unnamed_addr global i32 0, align 4
@key = internal unnamed_addr global i32 0, align 4
@the_pool = internal unnamed_addr global ptr null, align 8
@__const.tw_parallel.unknown = private unnamed_addr constant %struct.tw_caller { i32 256, i32 0, ptr null }, align 8
@inherited = internal unnamed_addr global i32 0, align 4
@new_pool.claimed = internal global i32 0, align 4
@__const.worker.me = private unnamed_addr constant %struct.tw_caller { i32 0, i32 1, ptr null }, align 8

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
  %5 = tail call ptr @mmap(ptr noundef null, i64 noundef 531072, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) #8
  %6 = icmp eq ptr %5, inttoptr (i64 -1 to ptr)
  br i1 %6, label %72, label %7

7:                                                ; preds = %4
  %8 = tail call i32 @madvise(ptr noundef %5, i64 noundef 531072, i32 noundef 18) #8
  %9 = icmp ne i32 %8, 0
  %10 = zext i1 %9 to i32
  call void @llvm.lifetime.start.p0(ptr nonnull %1) #8
  %11 = call i32 @pthread_key_create(ptr noundef nonnull %1, ptr noundef null) #8
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %15, label %13

13:                                               ; preds = %7
  %14 = call i32 @munmap(ptr noundef %5, i64 noundef 531072) #8
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #8
  br label %72

15:                                               ; preds = %7
  %16 = atomicrmw xchg ptr @new_pool.claimed, i32 1 seq_cst, align 4
  %17 = icmp eq i32 %16, 0
  %18 = load i32, ptr %1, align 4
  br i1 %17, label %29, label %19

19:                                               ; preds = %15
  %20 = call i32 @pthread_key_delete(i32 noundef %18) #8
  %21 = call i32 @munmap(ptr noundef %5, i64 noundef 531072) #8
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
  br i1 %31, label %72, label %36

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
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 128 dereferenceable(531072) %38, i8 0, i64 531072, i1 false)
  br label %48

48:                                               ; preds = %47, %44, %40, %36
  %49 = load atomic i32, ptr %38 acquire, align 128
  %50 = icmp eq i32 %49, 2
  br i1 %50, label %72, label %51

51:                                               ; preds = %48
  %52 = cmpxchg ptr %38, i32 0, i32 1 seq_cst seq_cst, align 128
  %53 = extractvalue { i32, i1 } %52, 1
  br i1 %53, label %54, label %72

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
  %70 = getelementptr inbounds nuw i8, ptr %38, i64 152
  store atomic i64 250, ptr %70 seq_cst, align 8
  %71 = getelementptr inbounds nuw i8, ptr %38, i64 160
  store atomic i64 30000, ptr %71 seq_cst, align 32
  store atomic i32 2, ptr %38 seq_cst, align 128
  br label %72

72:                                               ; preds = %4, %13, %60, %51, %48, %29
  %73 = phi ptr [ %38, %48 ], [ null, %29 ], [ %38, %60 ], [ null, %51 ], [ null, %13 ], [ null, %4 ]
  ret ptr %73
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
  br label %522

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
  br i1 %59, label %60, label %63

60:                                               ; preds = %52
  %61 = getelementptr inbounds nuw i8, ptr %17, i64 152
  %62 = load atomic i64, ptr %61 monotonic, align 8
  br label %71

63:                                               ; preds = %52
  %64 = load atomic i64, ptr %5 monotonic, align 8
  %65 = getelementptr inbounds nuw i8, ptr %17, i64 152
  %66 = load atomic i64, ptr %65 monotonic, align 8
  %67 = icmp sgt i64 %64, 0
  %68 = shl nsw i64 %66, 2
  %69 = icmp slt i64 %64, %68
  %70 = select i1 %67, i1 %69, i1 false
  br i1 %70, label %281, label %71

71:                                               ; preds = %63, %60
  %72 = phi i64 [ 0, %60 ], [ %64, %63 ]
  %73 = getelementptr inbounds nuw i8, ptr %17, i64 256
  %74 = load atomic i32, ptr %73 monotonic, align 128
  %75 = load i32, ptr %37, align 4
  %76 = icmp sgt i32 %74, %75
  br i1 %76, label %281, label %77

77:                                               ; preds = %71
  %78 = getelementptr inbounds nuw i8, ptr %17, i64 140
  %79 = load atomic i32, ptr %78 monotonic, align 4
  %80 = add nsw i32 %39, -1
  %81 = icmp slt i32 %79, %80
  br i1 %81, label %82, label %103

82:                                               ; preds = %77
  %83 = getelementptr inbounds nuw i8, ptr %17, i64 144
  %84 = atomicrmw xchg ptr %83, i32 1 seq_cst, align 16
  %85 = icmp eq i32 %84, 0
  br i1 %85, label %86, label %103

86:                                               ; preds = %82
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #8
  %87 = call i32 @sigfillset(ptr noundef nonnull %11) #8
  %88 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %11, ptr noundef nonnull %12) #8
  %89 = call i32 @pthread_attr_init(ptr noundef nonnull %13) #8
  %90 = call i32 @pthread_attr_setdetachstate(ptr noundef nonnull %13, i32 noundef 1) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #8
  %91 = load atomic i32, ptr %78 seq_cst, align 4
  %92 = icmp slt i32 %91, %80
  br i1 %92, label %93, label %100

93:                                               ; preds = %86, %96
  %94 = call i32 @pthread_create(ptr noundef nonnull %14, ptr noundef nonnull %13, ptr noundef nonnull @worker, ptr noundef nonnull %17) #8
  %95 = icmp eq i32 %94, 0
  br i1 %95, label %96, label %100

96:                                               ; preds = %93
  %97 = atomicrmw add ptr %78, i32 1 seq_cst, align 4
  %98 = load atomic i32, ptr %78 seq_cst, align 4
  %99 = icmp slt i32 %98, %80
  br i1 %99, label %93, label %100

100:                                              ; preds = %96, %93, %86
  %101 = call i32 @pthread_attr_destroy(ptr noundef nonnull %13) #8
  %102 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %12, ptr noundef null) #8
  store atomic i32 0, ptr %83 seq_cst, align 16
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #8
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #8
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #8
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #8
  br label %103

103:                                              ; preds = %100, %82, %77
  %104 = getelementptr inbounds nuw i8, ptr %17, i64 384
  %105 = load atomic i32, ptr %104 monotonic, align 128
  %106 = load atomic i32, ptr %78 monotonic, align 4
  %107 = sub nsw i32 %106, %105
  %108 = icmp sge i32 %107, %80
  %109 = icmp eq i32 %105, 0
  %110 = or i1 %109, %108
  br i1 %110, label %137, label %111

111:                                              ; preds = %103
  %112 = getelementptr inbounds nuw i8, ptr %17, i64 160
  %113 = load atomic i64, ptr %112 monotonic, align 32
  %114 = shl nsw i64 %113, 1
  %115 = icmp eq i64 %72, 0
  %116 = icmp sgt i64 %72, %114
  %117 = select i1 %115, i1 true, i1 %116
  br i1 %117, label %133, label %118

118:                                              ; preds = %111
  %119 = getelementptr inbounds nuw i8, ptr %17, i64 176
  %120 = load atomic i64, ptr %119 monotonic, align 16
  %121 = sub nsw i64 %58, %120
  %122 = icmp sgt i64 %121, 100000
  br i1 %122, label %126, label %123

123:                                              ; preds = %118
  %124 = getelementptr inbounds nuw i8, ptr %17, i64 168
  %125 = load atomic i64, ptr %124 monotonic, align 8
  br label %126

126:                                              ; preds = %123, %118
  %127 = phi i64 [ %125, %123 ], [ 0, %118 ]
  %128 = add nsw i64 %127, %72
  %129 = icmp sgt i64 %128, %114
  %130 = getelementptr inbounds nuw i8, ptr %17, i64 168
  %131 = select i1 %129, i64 0, i64 %128
  store atomic i64 %131, ptr %130 monotonic, align 8
  %132 = add nsw i64 %72, %58
  store atomic i64 %132, ptr %119 monotonic, align 16
  br i1 %129, label %133, label %137

133:                                              ; preds = %126, %111
  %134 = sub nsw i32 %80, %107
  %135 = icmp slt i32 %134, 2
  %136 = select i1 %135, i32 1, i32 2
  br label %139

137:                                              ; preds = %126, %103
  %138 = icmp slt i32 %107, 1
  br i1 %138, label %281, label %139

139:                                              ; preds = %137, %133
  %140 = phi i32 [ %136, %133 ], [ 0, %137 ]
  %141 = getelementptr inbounds nuw i8, ptr %17, i64 896
  %142 = load atomic i32, ptr %141 monotonic, align 128
  %143 = icmp eq i32 %142, 0
  br i1 %143, label %144, label %161

144:                                              ; preds = %139
  %145 = getelementptr inbounds nuw i8, ptr %17, i64 640
  %146 = atomicrmw xchg ptr %141, i32 1 acquire, align 128
  %147 = icmp eq i32 %146, 0
  br i1 %147, label %148, label %161

148:                                              ; preds = %277, %269, %261, %253, %245, %237, %229, %221, %213, %205, %197, %189, %181, %173, %165, %144
  %149 = phi i32 [ 0, %144 ], [ 1, %165 ], [ 2, %173 ], [ 3, %181 ], [ 4, %189 ], [ 5, %197 ], [ 6, %205 ], [ 7, %213 ], [ 8, %221 ], [ 9, %229 ], [ 10, %237 ], [ 11, %245 ], [ 12, %253 ], [ 13, %261 ], [ 14, %269 ], [ 15, %277 ]
  %150 = phi ptr [ %145, %144 ], [ %166, %165 ], [ %174, %173 ], [ %182, %181 ], [ %190, %189 ], [ %198, %197 ], [ %206, %205 ], [ %214, %213 ], [ %222, %221 ], [ %230, %229 ], [ %238, %237 ], [ %246, %245 ], [ %254, %253 ], [ %262, %261 ], [ %270, %269 ], [ %278, %277 ]
  %151 = getelementptr inbounds nuw i8, ptr %17, i64 148
  %152 = load atomic i32, ptr %151 seq_cst, align 4
  %153 = add nuw nsw i32 %149, 1
  br label %154

154:                                              ; preds = %157, %148
  %155 = phi i32 [ %152, %148 ], [ %160, %157 ]
  %156 = icmp sgt i32 %155, %149
  br i1 %156, label %290, label %157

157:                                              ; preds = %154
  %158 = cmpxchg weak ptr %151, i32 %155, i32 %153 seq_cst seq_cst, align 4
  %159 = extractvalue { i32, i1 } %158, 1
  %160 = extractvalue { i32, i1 } %158, 0
  br i1 %159, label %290, label %154

161:                                              ; preds = %144, %139
  %162 = getelementptr inbounds nuw i8, ptr %17, i64 34048
  %163 = load atomic i32, ptr %162 monotonic, align 128
  %164 = icmp eq i32 %163, 0
  br i1 %164, label %165, label %169

165:                                              ; preds = %161
  %166 = getelementptr inbounds nuw i8, ptr %17, i64 33792
  %167 = atomicrmw xchg ptr %162, i32 1 acquire, align 128
  %168 = icmp eq i32 %167, 0
  br i1 %168, label %148, label %169

169:                                              ; preds = %165, %161
  %170 = getelementptr inbounds nuw i8, ptr %17, i64 67200
  %171 = load atomic i32, ptr %170 monotonic, align 128
  %172 = icmp eq i32 %171, 0
  br i1 %172, label %173, label %177

173:                                              ; preds = %169
  %174 = getelementptr inbounds nuw i8, ptr %17, i64 66944
  %175 = atomicrmw xchg ptr %170, i32 1 acquire, align 128
  %176 = icmp eq i32 %175, 0
  br i1 %176, label %148, label %177

177:                                              ; preds = %173, %169
  %178 = getelementptr inbounds nuw i8, ptr %17, i64 100352
  %179 = load atomic i32, ptr %178 monotonic, align 128
  %180 = icmp eq i32 %179, 0
  br i1 %180, label %181, label %185

181:                                              ; preds = %177
  %182 = getelementptr inbounds nuw i8, ptr %17, i64 100096
  %183 = atomicrmw xchg ptr %178, i32 1 acquire, align 128
  %184 = icmp eq i32 %183, 0
  br i1 %184, label %148, label %185

185:                                              ; preds = %181, %177
  %186 = getelementptr inbounds nuw i8, ptr %17, i64 133504
  %187 = load atomic i32, ptr %186 monotonic, align 128
  %188 = icmp eq i32 %187, 0
  br i1 %188, label %189, label %193

189:                                              ; preds = %185
  %190 = getelementptr inbounds nuw i8, ptr %17, i64 133248
  %191 = atomicrmw xchg ptr %186, i32 1 acquire, align 128
  %192 = icmp eq i32 %191, 0
  br i1 %192, label %148, label %193

193:                                              ; preds = %189, %185
  %194 = getelementptr inbounds nuw i8, ptr %17, i64 166656
  %195 = load atomic i32, ptr %194 monotonic, align 128
  %196 = icmp eq i32 %195, 0
  br i1 %196, label %197, label %201

197:                                              ; preds = %193
  %198 = getelementptr inbounds nuw i8, ptr %17, i64 166400
  %199 = atomicrmw xchg ptr %194, i32 1 acquire, align 128
  %200 = icmp eq i32 %199, 0
  br i1 %200, label %148, label %201

201:                                              ; preds = %197, %193
  %202 = getelementptr inbounds nuw i8, ptr %17, i64 199808
  %203 = load atomic i32, ptr %202 monotonic, align 128
  %204 = icmp eq i32 %203, 0
  br i1 %204, label %205, label %209

205:                                              ; preds = %201
  %206 = getelementptr inbounds nuw i8, ptr %17, i64 199552
  %207 = atomicrmw xchg ptr %202, i32 1 acquire, align 128
  %208 = icmp eq i32 %207, 0
  br i1 %208, label %148, label %209

209:                                              ; preds = %205, %201
  %210 = getelementptr inbounds nuw i8, ptr %17, i64 232960
  %211 = load atomic i32, ptr %210 monotonic, align 128
  %212 = icmp eq i32 %211, 0
  br i1 %212, label %213, label %217

213:                                              ; preds = %209
  %214 = getelementptr inbounds nuw i8, ptr %17, i64 232704
  %215 = atomicrmw xchg ptr %210, i32 1 acquire, align 128
  %216 = icmp eq i32 %215, 0
  br i1 %216, label %148, label %217

217:                                              ; preds = %213, %209
  %218 = getelementptr inbounds nuw i8, ptr %17, i64 266112
  %219 = load atomic i32, ptr %218 monotonic, align 128
  %220 = icmp eq i32 %219, 0
  br i1 %220, label %221, label %225

221:                                              ; preds = %217
  %222 = getelementptr inbounds nuw i8, ptr %17, i64 265856
  %223 = atomicrmw xchg ptr %218, i32 1 acquire, align 128
  %224 = icmp eq i32 %223, 0
  br i1 %224, label %148, label %225

225:                                              ; preds = %221, %217
  %226 = getelementptr inbounds nuw i8, ptr %17, i64 299264
  %227 = load atomic i32, ptr %226 monotonic, align 128
  %228 = icmp eq i32 %227, 0
  br i1 %228, label %229, label %233

229:                                              ; preds = %225
  %230 = getelementptr inbounds nuw i8, ptr %17, i64 299008
  %231 = atomicrmw xchg ptr %226, i32 1 acquire, align 128
  %232 = icmp eq i32 %231, 0
  br i1 %232, label %148, label %233

233:                                              ; preds = %229, %225
  %234 = getelementptr inbounds nuw i8, ptr %17, i64 332416
  %235 = load atomic i32, ptr %234 monotonic, align 128
  %236 = icmp eq i32 %235, 0
  br i1 %236, label %237, label %241

237:                                              ; preds = %233
  %238 = getelementptr inbounds nuw i8, ptr %17, i64 332160
  %239 = atomicrmw xchg ptr %234, i32 1 acquire, align 128
  %240 = icmp eq i32 %239, 0
  br i1 %240, label %148, label %241

241:                                              ; preds = %237, %233
  %242 = getelementptr inbounds nuw i8, ptr %17, i64 365568
  %243 = load atomic i32, ptr %242 monotonic, align 128
  %244 = icmp eq i32 %243, 0
  br i1 %244, label %245, label %249

245:                                              ; preds = %241
  %246 = getelementptr inbounds nuw i8, ptr %17, i64 365312
  %247 = atomicrmw xchg ptr %242, i32 1 acquire, align 128
  %248 = icmp eq i32 %247, 0
  br i1 %248, label %148, label %249

249:                                              ; preds = %245, %241
  %250 = getelementptr inbounds nuw i8, ptr %17, i64 398720
  %251 = load atomic i32, ptr %250 monotonic, align 128
  %252 = icmp eq i32 %251, 0
  br i1 %252, label %253, label %257

253:                                              ; preds = %249
  %254 = getelementptr inbounds nuw i8, ptr %17, i64 398464
  %255 = atomicrmw xchg ptr %250, i32 1 acquire, align 128
  %256 = icmp eq i32 %255, 0
  br i1 %256, label %148, label %257

257:                                              ; preds = %253, %249
  %258 = getelementptr inbounds nuw i8, ptr %17, i64 431872
  %259 = load atomic i32, ptr %258 monotonic, align 128
  %260 = icmp eq i32 %259, 0
  br i1 %260, label %261, label %265

261:                                              ; preds = %257
  %262 = getelementptr inbounds nuw i8, ptr %17, i64 431616
  %263 = atomicrmw xchg ptr %258, i32 1 acquire, align 128
  %264 = icmp eq i32 %263, 0
  br i1 %264, label %148, label %265

265:                                              ; preds = %261, %257
  %266 = getelementptr inbounds nuw i8, ptr %17, i64 465024
  %267 = load atomic i32, ptr %266 monotonic, align 128
  %268 = icmp eq i32 %267, 0
  br i1 %268, label %269, label %273

269:                                              ; preds = %265
  %270 = getelementptr inbounds nuw i8, ptr %17, i64 464768
  %271 = atomicrmw xchg ptr %266, i32 1 acquire, align 128
  %272 = icmp eq i32 %271, 0
  br i1 %272, label %148, label %273

273:                                              ; preds = %269, %265
  %274 = getelementptr inbounds nuw i8, ptr %17, i64 498176
  %275 = load atomic i32, ptr %274 monotonic, align 128
  %276 = icmp eq i32 %275, 0
  br i1 %276, label %277, label %281

277:                                              ; preds = %273
  %278 = getelementptr inbounds nuw i8, ptr %17, i64 497920
  %279 = atomicrmw xchg ptr %274, i32 1 acquire, align 128
  %280 = icmp eq i32 %279, 0
  br i1 %280, label %148, label %281

281:                                              ; preds = %277, %273, %137, %71, %63
  %282 = load i32, ptr %43, align 4
  store i32 1, ptr %43, align 4
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #8
  store i32 %282, ptr %43, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #8
  %283 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #8
  %284 = load i64, ptr %10, align 8
  %285 = mul nsw i64 %284, 1000000000
  %286 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %287 = load i64, ptr %286, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #8
  %288 = sub i64 %287, %58
  %289 = add i64 %288, %285
  br label %507

290:                                              ; preds = %157, %154
  %291 = getelementptr inbounds nuw i8, ptr %150, i64 260
  %292 = load i32, ptr %291, align 4
  %293 = add i32 %292, 1
  store i32 %293, ptr %291, align 4
  %294 = icmp eq i32 %293, 0
  br i1 %294, label %295, label %296

295:                                              ; preds = %290
  store i32 1, ptr %291, align 4
  br label %299

296:                                              ; preds = %290
  %297 = zext i32 %293 to i64
  %298 = shl nuw i64 %297, 32
  br label %299

299:                                              ; preds = %296, %295
  %300 = phi i64 [ 4294967296, %295 ], [ %298, %296 ]
  %301 = getelementptr inbounds nuw i8, ptr %150, i64 8
  store ptr %0, ptr %301, align 8
  %302 = getelementptr inbounds nuw i8, ptr %150, i64 16
  store ptr %1, ptr %302, align 16
  %303 = getelementptr inbounds nuw i8, ptr %150, i64 24
  store i64 %2, ptr %303, align 8
  %304 = getelementptr inbounds nuw i8, ptr %150, i64 32
  store i64 %3, ptr %304, align 32
  %305 = sext i64 %2 to i128
  %306 = zext nneg i32 %39 to i128
  br label %317

307:                                              ; preds = %317
  %308 = getelementptr inbounds nuw i8, ptr %150, i64 40
  store i32 %334, ptr %308, align 8
  %309 = getelementptr inbounds nuw i8, ptr %150, i64 48
  store atomic i64 %58, ptr %309 monotonic, align 16
  %310 = getelementptr inbounds nuw i8, ptr %150, i64 56
  %311 = call i32 @sched_getcpu() #8
  store atomic i32 %311, ptr %310 monotonic, align 8
  %312 = getelementptr inbounds nuw i8, ptr %150, i64 128
  store atomic i32 0, ptr %312 monotonic, align 128
  %313 = getelementptr inbounds nuw i8, ptr %150, i64 384
  %314 = zext nneg i32 %39 to i64
  %315 = load i64, ptr %303, align 8
  %316 = sext i64 %315 to i128
  br label %336

317:                                              ; preds = %317, %299
  %318 = phi i32 [ 0, %299 ], [ %324, %317 ]
  %319 = phi i32 [ 0, %299 ], [ %334, %317 ]
  %320 = zext nneg i32 %318 to i128
  %321 = mul nsw i128 %320, %305
  %322 = sdiv i128 %321, %306
  %323 = trunc i128 %322 to i64
  %324 = add nuw nsw i32 %318, 1
  %325 = zext nneg i32 %324 to i128
  %326 = mul nsw i128 %325, %305
  %327 = sdiv i128 %326, %306
  %328 = trunc i128 %327 to i64
  %329 = xor i64 %323, -1
  %330 = add i64 %3, %329
  %331 = add i64 %330, %328
  %332 = sdiv i64 %331, %3
  %333 = trunc i64 %332 to i32
  %334 = add i32 %319, %333
  %335 = icmp eq i32 %324, %39
  br i1 %335, label %307, label %317

336:                                              ; preds = %336, %307
  %337 = phi i64 [ 0, %307 ], [ %342, %336 ]
  %338 = zext nneg i64 %337 to i128
  %339 = mul nsw i128 %338, %316
  %340 = sdiv i128 %339, %306
  %341 = trunc i128 %340 to i64
  %342 = add nuw nsw i64 %337, 1
  %343 = zext nneg i64 %342 to i128
  %344 = mul nsw i128 %343, %316
  %345 = sdiv i128 %344, %306
  %346 = trunc i128 %345 to i64
  %347 = xor i64 %341, -1
  %348 = add i64 %3, %347
  %349 = add i64 %348, %346
  %350 = sdiv i64 %349, %3
  %351 = getelementptr inbounds nuw %struct.steps, ptr %313, i64 %337
  %352 = and i64 %350, 4294967295
  %353 = or disjoint i64 %352, %300
  store atomic i64 %353, ptr %351 release, align 128
  %354 = icmp eq i64 %342, %314
  br i1 %354, label %355, label %336

355:                                              ; preds = %336
  %356 = shl i32 %39, 16
  %357 = or disjoint i32 %356, 1
  %358 = zext i32 %357 to i64
  %359 = or disjoint i64 %300, %358
  store atomic i64 %359, ptr %150 release, align 128
  %360 = load i32, ptr %291, align 4
  %361 = load i32, ptr %308, align 8
  %362 = load atomic i64, ptr %150 monotonic, align 128
  %363 = trunc i64 %362 to i32
  %364 = lshr i32 %363, 16
  %365 = icmp eq i32 %140, 0
  br i1 %365, label %378, label %366

366:                                              ; preds = %355
  %367 = getelementptr inbounds nuw i8, ptr %17, i64 516
  %368 = call i32 @sched_getcpu() #8
  store atomic i32 %368, ptr %367 monotonic, align 4
  %369 = getelementptr inbounds nuw i8, ptr %17, i64 512
  %370 = atomicrmw add ptr %369, i32 1 seq_cst, align 128
  %371 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %369, i32 noundef 129, i32 noundef range(i32 1, 3) %140, ptr noundef null, ptr noundef null, i32 noundef 0) #8
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #8
  %372 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %9) #8
  %373 = load i64, ptr %9, align 8
  %374 = mul nsw i64 %373, 1000000000
  %375 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %376 = load i64, ptr %375, align 8
  %377 = add nsw i64 %374, %376
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #8
  br label %378

378:                                              ; preds = %366, %355
  %379 = phi i64 [ %377, %366 ], [ %58, %355 ]
  store i32 1, ptr %43, align 4
  %380 = icmp eq i32 %364, 0
  br i1 %380, label %381, label %382

381:                                              ; preds = %378
  store i32 0, ptr %43, align 4
  br label %456

382:                                              ; preds = %378
  %383 = zext i32 %360 to i64
  %384 = zext nneg i32 %364 to i128
  %385 = zext nneg i32 %364 to i64
  br label %386

386:                                              ; preds = %440, %382
  %387 = phi i64 [ %392, %440 ], [ 0, %382 ]
  %388 = phi i32 [ %398, %440 ], [ 0, %382 ]
  %389 = getelementptr inbounds nuw %struct.steps, ptr %313, i64 %387
  %390 = load atomic i64, ptr %389 acquire, align 8
  %391 = zext nneg i64 %387 to i128
  %392 = add nuw nsw i64 %387, 1
  %393 = zext nneg i64 %392 to i128
  br label %394

394:                                              ; preds = %422, %386
  %395 = phi i64 [ %423, %422 ], [ -1, %386 ]
  %396 = phi i64 [ %424, %422 ], [ 0, %386 ]
  %397 = phi i64 [ %439, %422 ], [ %390, %386 ]
  %398 = phi i32 [ %438, %422 ], [ %388, %386 ]
  br label %399

399:                                              ; preds = %406, %394
  %400 = phi i64 [ %410, %406 ], [ %397, %394 ]
  %401 = lshr i64 %400, 32
  %402 = icmp ne i64 %401, %383
  %403 = and i64 %400, 4294967295
  %404 = icmp eq i64 %403, 0
  %405 = or i1 %402, %404
  br i1 %405, label %440, label %406

406:                                              ; preds = %399
  %407 = add i64 %400, -1
  %408 = cmpxchg weak ptr %389, i64 %400, i64 %407 acq_rel acquire, align 8
  %409 = extractvalue { i64, i1 } %408, 1
  %410 = extractvalue { i64, i1 } %408, 0
  br i1 %409, label %411, label %399

411:                                              ; preds = %406
  %412 = icmp slt i64 %395, 0
  br i1 %412, label %413, label %422

413:                                              ; preds = %411
  %414 = load i64, ptr %303, align 8
  %415 = sext i64 %414 to i128
  %416 = mul nsw i128 %415, %391
  %417 = sdiv i128 %416, %384
  %418 = trunc i128 %417 to i64
  %419 = mul nsw i128 %415, %393
  %420 = sdiv i128 %419, %384
  %421 = trunc i128 %420 to i64
  br label %422

422:                                              ; preds = %413, %411
  %423 = phi i64 [ %421, %413 ], [ %395, %411 ]
  %424 = phi i64 [ %418, %413 ], [ %396, %411 ]
  %425 = load i64, ptr %304, align 32
  %426 = xor i64 %424, -1
  %427 = add i64 %423, %426
  %428 = add i64 %427, %425
  %429 = sdiv i64 %428, %425
  %430 = sub i64 %429, %400
  %431 = and i64 %430, 4294967295
  %432 = mul nsw i64 %431, %425
  %433 = add nsw i64 %432, %424
  %434 = add nsw i64 %433, %425
  %435 = call i64 @llvm.smin.i64(i64 %434, i64 %423)
  %436 = load ptr, ptr %301, align 8
  %437 = load ptr, ptr %302, align 16
  call void %436(ptr noundef %437, i64 noundef %433, i64 noundef %435, i64 noundef 0) #8
  %438 = add i32 %398, 1
  %439 = load atomic i64, ptr %389 acquire, align 8
  br label %394

440:                                              ; preds = %399
  %441 = icmp eq i64 %392, %385
  br i1 %441, label %442, label %386

442:                                              ; preds = %440
  store i32 0, ptr %43, align 4
  %443 = icmp eq i32 %398, 0
  br i1 %443, label %456, label %444

444:                                              ; preds = %442
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #8
  %445 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #8
  %446 = load i64, ptr %8, align 8
  %447 = mul nsw i64 %446, 1000000000
  %448 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %449 = load i64, ptr %448, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #8
  %450 = sub i64 %449, %379
  %451 = add i64 %450, %447
  %452 = zext i32 %361 to i64
  %453 = mul nsw i64 %451, %452
  %454 = zext i32 %398 to i64
  %455 = sdiv i64 %453, %454
  br label %456

456:                                              ; preds = %444, %442, %381
  %457 = phi i32 [ %398, %444 ], [ 0, %442 ], [ 0, %381 ]
  %458 = phi i64 [ %455, %444 ], [ 0, %442 ], [ 0, %381 ]
  %459 = load i32, ptr %308, align 8
  %460 = icmp eq i32 %457, %459
  br i1 %460, label %505, label %461

461:                                              ; preds = %456
  %462 = atomicrmw add ptr %312, i32 %457 acq_rel, align 128
  %463 = load atomic i32, ptr %312 acquire, align 128
  %464 = and i32 %463, -1073741825
  %465 = icmp eq i32 %464, %459
  br i1 %465, label %505, label %466

466:                                              ; preds = %461
  %467 = zext i32 %360 to i64
  %468 = getelementptr inbounds nuw i8, ptr %7, i64 8
  br label %469

469:                                              ; preds = %499, %466
  %470 = phi i32 [ %463, %466 ], [ %502, %499 ]
  %471 = phi i64 [ 0, %466 ], [ %500, %499 ]
  %472 = phi i32 [ 1, %466 ], [ %501, %499 ]
  %473 = load atomic i64, ptr %150 monotonic, align 128
  %474 = lshr i64 %473, 32
  %475 = icmp eq i64 %474, %467
  br i1 %475, label %476, label %505

476:                                              ; preds = %469
  call void asm sideeffect "yield", ""() #8
  %477 = and i32 %472, 15
  %478 = icmp eq i32 %477, 0
  br i1 %478, label %479, label %499

479:                                              ; preds = %476
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #8
  %480 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %7) #8
  %481 = load i64, ptr %7, align 8
  %482 = mul nsw i64 %481, 1000000000
  %483 = load i64, ptr %468, align 8
  %484 = add nsw i64 %482, %483
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #8
  %485 = icmp eq i64 %471, 0
  %486 = select i1 %485, i64 %484, i64 %471
  %487 = sub nsw i64 %484, %486
  %488 = icmp slt i64 %487, 30000
  br i1 %488, label %499, label %489

489:                                              ; preds = %479
  %490 = and i32 %470, 1073741824
  %491 = icmp eq i32 %490, 0
  br i1 %491, label %492, label %496

492:                                              ; preds = %489
  %493 = or disjoint i32 %470, 1073741824
  %494 = cmpxchg ptr %312, i32 %470, i32 %493 seq_cst seq_cst, align 128
  %495 = extractvalue { i32, i1 } %494, 1
  br i1 %495, label %496, label %499

496:                                              ; preds = %492, %489
  %497 = phi i32 [ %493, %492 ], [ %470, %489 ]
  %498 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %312, i32 noundef 128, i32 noundef %497, ptr noundef null, ptr noundef null, i32 noundef 0) #8
  br label %499

499:                                              ; preds = %496, %492, %479, %476
  %500 = phi i64 [ %486, %479 ], [ %486, %496 ], [ %486, %492 ], [ %471, %476 ]
  %501 = add i32 %472, 1
  %502 = load atomic i32, ptr %312 acquire, align 128
  %503 = and i32 %502, -1073741825
  %504 = icmp eq i32 %503, %459
  br i1 %504, label %505, label %469

505:                                              ; preds = %499, %469, %461, %456
  %506 = getelementptr inbounds nuw i8, ptr %150, i64 256
  store atomic i32 0, ptr %506 release, align 128
  br label %507

507:                                              ; preds = %505, %281
  %508 = phi i64 [ %289, %281 ], [ %458, %505 ]
  %509 = icmp slt i64 %508, 1
  %510 = or i1 %59, %509
  br i1 %510, label %522, label %511

511:                                              ; preds = %507
  %512 = load atomic i64, ptr %5 monotonic, align 8
  %513 = icmp sgt i64 %512, 0
  br i1 %513, label %514, label %520

514:                                              ; preds = %511
  %515 = sub nsw i64 %508, %512
  %516 = icmp samesign ult i64 %508, %512
  %517 = select i1 %516, i64 2, i64 8
  %518 = sdiv i64 %515, %517
  %519 = add nsw i64 %518, %512
  br label %520

520:                                              ; preds = %514, %511
  %521 = phi i64 [ %519, %514 ], [ %508, %511 ]
  store atomic i64 %521, ptr %5 monotonic, align 8
  br label %522

522:                                              ; preds = %520, %507, %46
  %523 = phi i1 [ %27, %520 ], [ %27, %507 ], [ %47, %46 ]
  %524 = or i1 %18, %523
  br i1 %524, label %528, label %525

525:                                              ; preds = %522
  %526 = load i32, ptr @key, align 4
  %527 = call i32 @pthread_setspecific(i32 noundef %526, ptr noundef null) #8
  br label %528

528:                                              ; preds = %525, %522
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
  %11 = alloca [16 x i64], align 8
  %12 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %11, i8 0, i64 128, i1 false)
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %12, ptr noundef nonnull align 8 dereferenceable(16) @__const.worker.me, i64 16, i1 false)
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #8
  %13 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #8
  %14 = load i64, ptr %10, align 8
  %15 = mul nsw i64 %14, 1000000000
  %16 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %17 = load i64, ptr %16, align 8
  %18 = add nsw i64 %15, %17
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #8
  %19 = load i32, ptr @key, align 4
  %20 = call i32 @pthread_setspecific(i32 noundef %19, ptr noundef nonnull %12) #8
  %21 = call i64 asm sideeffect "mrs $0, fpcr", "=r"() #8
  %22 = or i64 %21, 16777216
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %22) #8
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 4
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 148
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %27 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 384
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 516
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 512
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %33 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %34 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 640
  %36 = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %37

37:                                               ; preds = %345, %1
  %38 = phi i32 [ 1, %1 ], [ %350, %345 ]
  %39 = phi i32 [ 0, %1 ], [ %346, %345 ]
  %40 = phi i32 [ -1, %1 ], [ %347, %345 ]
  %41 = phi i64 [ -1, %1 ], [ %348, %345 ]
  %42 = phi i64 [ %18, %1 ], [ %349, %345 ]
  %43 = load atomic i32, ptr %23 monotonic, align 128
  %44 = load i32, ptr %24, align 4
  %45 = icmp slt i32 %43, %44
  br i1 %45, label %46, label %261

46:                                               ; preds = %37
  %47 = load atomic i32, ptr %25 acquire, align 4
  %48 = icmp sgt i32 %47, 0
  br i1 %48, label %49, label %261

49:                                               ; preds = %46
  %50 = zext nneg i32 %47 to i64
  br label %51

51:                                               ; preds = %66, %49
  %52 = phi i64 [ 0, %49 ], [ %67, %66 ]
  %53 = mul nuw nsw i64 %52, 33152
  %54 = getelementptr inbounds nuw i8, ptr %0, i64 %53
  %55 = getelementptr inbounds nuw i8, ptr %54, i64 640
  %56 = load atomic i64, ptr %55 acquire, align 128
  %57 = lshr i64 %56, 32
  %58 = getelementptr inbounds nuw i64, ptr %11, i64 %52
  %59 = load i64, ptr %58, align 8
  %60 = icmp eq i64 %57, %59
  br i1 %60, label %66, label %61

61:                                               ; preds = %51
  %62 = and i64 %56, 65535
  %63 = lshr i64 %56, 16
  %64 = and i64 %63, 65535
  %65 = icmp samesign ult i64 %62, %64
  br i1 %65, label %69, label %66

66:                                               ; preds = %61, %51
  %67 = add nuw nsw i64 %52, 1
  %68 = icmp eq i64 %67, %50
  br i1 %68, label %261, label %51

69:                                               ; preds = %61
  %70 = getelementptr inbounds nuw i8, ptr %54, i64 640
  %71 = getelementptr inbounds nuw i8, ptr %54, i64 696
  %72 = load atomic i32, ptr %71 monotonic, align 8
  %73 = call i32 @sched_getcpu() #8
  %74 = icmp eq i32 %73, %72
  br i1 %74, label %75, label %92

75:                                               ; preds = %69
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %9, ptr noundef nonnull readonly align 8 dereferenceable(128) %26, i64 128, i1 false)
  %76 = icmp ult i32 %72, 1024
  br i1 %76, label %77, label %86

77:                                               ; preds = %75
  %78 = zext nneg i32 %72 to i64
  %79 = and i64 %78, 63
  %80 = shl nuw i64 1, %79
  %81 = xor i64 %80, -1
  %82 = lshr i64 %78, 6
  %83 = getelementptr inbounds nuw i64, ptr %9, i64 %82
  %84 = load i64, ptr %83, align 8
  %85 = and i64 %84, %81
  store i64 %85, ptr %83, align 8
  br label %86

86:                                               ; preds = %77, %75
  %87 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %9) #8
  %88 = icmp sgt i32 %87, 0
  br i1 %88, label %89, label %91

89:                                               ; preds = %86
  %90 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %9) #8
  br label %91

91:                                               ; preds = %86, %89
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #8
  br label %92

92:                                               ; preds = %91, %69
  %93 = phi i32 [ 1, %91 ], [ %39, %69 ]
  %94 = load atomic i64, ptr %70 seq_cst, align 128
  %95 = lshr i64 %94, 32
  %96 = shl nsw i64 %52, 3
  %97 = getelementptr inbounds nuw i8, ptr %11, i64 %96
  store i64 %95, ptr %97, align 8
  %98 = atomicrmw add ptr %23, i32 1 monotonic, align 128
  %99 = load atomic i64, ptr %70 acquire, align 128
  %100 = lshr i64 %99, 32
  %101 = trunc i64 %99 to i32
  %102 = lshr i32 %101, 16
  %103 = zext nneg i32 %102 to i64
  br label %104

104:                                              ; preds = %111, %92
  %105 = phi i64 [ %99, %92 ], [ %115, %111 ]
  %106 = lshr i64 %105, 32
  %107 = icmp eq i64 %106, %100
  %108 = and i64 %105, 65535
  %109 = icmp samesign ult i64 %108, %103
  %110 = select i1 %107, i1 %109, i1 false
  br i1 %110, label %111, label %246

111:                                              ; preds = %104
  %112 = add i64 %105, 1
  %113 = cmpxchg weak ptr %70, i64 %105, i64 %112 acq_rel acquire, align 128
  %114 = extractvalue { i64, i1 } %113, 1
  %115 = extractvalue { i64, i1 } %113, 0
  br i1 %114, label %116, label %104

116:                                              ; preds = %111
  %117 = trunc i64 %105 to i32
  %118 = and i32 %117, 65535
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #8
  %119 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #8
  %120 = load i64, ptr %8, align 8
  %121 = mul nsw i64 %120, 1000000000
  %122 = load i64, ptr %27, align 8
  %123 = add nsw i64 %121, %122
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #8
  %124 = icmp slt i64 %41, 0
  %125 = add nuw nsw i32 %118, 1
  %126 = icmp samesign ult i32 %125, %102
  %127 = select i1 %124, i1 %126, i1 false
  br i1 %127, label %128, label %135

128:                                              ; preds = %116
  %129 = load atomic i32, ptr %28 seq_cst, align 128
  %130 = icmp sgt i32 %129, 0
  br i1 %130, label %131, label %135

131:                                              ; preds = %128
  %132 = call i32 @sched_getcpu() #8
  store atomic i32 %132, ptr %29 monotonic, align 4
  %133 = atomicrmw add ptr %30, i32 1 seq_cst, align 128
  %134 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %30, i32 noundef 129, i32 noundef range(i32 1, 3) 2, ptr noundef null, ptr noundef null, i32 noundef 0) #8
  br label %135

135:                                              ; preds = %131, %128, %116
  %136 = getelementptr inbounds nuw i8, ptr %54, i64 1024
  %137 = getelementptr inbounds nuw i8, ptr %54, i64 664
  %138 = zext nneg i32 %102 to i128
  %139 = getelementptr inbounds nuw i8, ptr %54, i64 672
  %140 = getelementptr inbounds nuw i8, ptr %54, i64 648
  %141 = getelementptr inbounds nuw i8, ptr %54, i64 656
  br label %142

142:                                              ; preds = %203, %135
  %143 = phi i32 [ 0, %135 ], [ %157, %203 ]
  %144 = phi i32 [ 0, %135 ], [ %204, %203 ]
  %145 = add nuw nsw i32 %144, %118
  %146 = urem i32 %145, %102
  %147 = zext nneg i32 %146 to i64
  %148 = getelementptr inbounds nuw %struct.steps, ptr %136, i64 %147
  %149 = load atomic i64, ptr %148 acquire, align 8
  %150 = zext nneg i32 %146 to i128
  %151 = add nuw nsw i32 %146, 1
  %152 = zext nneg i32 %151 to i128
  br label %153

153:                                              ; preds = %201, %142
  %154 = phi i64 [ %182, %201 ], [ -1, %142 ]
  %155 = phi i64 [ %183, %201 ], [ 0, %142 ]
  %156 = phi i64 [ %202, %201 ], [ %149, %142 ]
  %157 = phi i32 [ %197, %201 ], [ %143, %142 ]
  br label %158

158:                                              ; preds = %165, %153
  %159 = phi i64 [ %169, %165 ], [ %156, %153 ]
  %160 = lshr i64 %159, 32
  %161 = icmp ne i64 %160, %100
  %162 = and i64 %159, 4294967295
  %163 = icmp eq i64 %162, 0
  %164 = or i1 %161, %163
  br i1 %164, label %203, label %165

165:                                              ; preds = %158
  %166 = add i64 %159, -1
  %167 = cmpxchg weak ptr %148, i64 %159, i64 %166 acq_rel acquire, align 8
  %168 = extractvalue { i64, i1 } %167, 1
  %169 = extractvalue { i64, i1 } %167, 0
  br i1 %168, label %170, label %158

170:                                              ; preds = %165
  %171 = icmp slt i64 %154, 0
  br i1 %171, label %172, label %181

172:                                              ; preds = %170
  %173 = load i64, ptr %137, align 8
  %174 = sext i64 %173 to i128
  %175 = mul nsw i128 %174, %150
  %176 = sdiv i128 %175, %138
  %177 = trunc i128 %176 to i64
  %178 = mul nsw i128 %174, %152
  %179 = sdiv i128 %178, %138
  %180 = trunc i128 %179 to i64
  br label %181

181:                                              ; preds = %170, %172
  %182 = phi i64 [ %180, %172 ], [ %154, %170 ]
  %183 = phi i64 [ %177, %172 ], [ %155, %170 ]
  %184 = load i64, ptr %139, align 32
  %185 = xor i64 %183, -1
  %186 = add i64 %182, %185
  %187 = add i64 %186, %184
  %188 = sdiv i64 %187, %184
  %189 = sub i64 %188, %159
  %190 = and i64 %189, 4294967295
  %191 = mul nsw i64 %190, %184
  %192 = add nsw i64 %191, %183
  %193 = add nsw i64 %192, %184
  %194 = call i64 @llvm.smin.i64(i64 %193, i64 %182)
  %195 = load ptr, ptr %140, align 8
  %196 = load ptr, ptr %141, align 16
  call void %195(ptr noundef %196, i64 noundef %192, i64 noundef %194, i64 noundef %108) #8
  %197 = add i32 %157, 1
  %198 = load atomic i32, ptr %23 monotonic, align 128
  %199 = load i32, ptr %24, align 4
  %200 = icmp sgt i32 %198, %199
  br i1 %200, label %206, label %201

201:                                              ; preds = %181
  %202 = load atomic i64, ptr %148 acquire, align 8
  br label %153

203:                                              ; preds = %158
  %204 = add nuw nsw i32 %144, 1
  %205 = icmp eq i32 %204, %102
  br i1 %205, label %206, label %142

206:                                              ; preds = %203, %181
  %207 = phi i32 [ %197, %181 ], [ %157, %203 ]
  %208 = icmp eq i32 %207, 0
  br i1 %208, label %246, label %209

209:                                              ; preds = %206
  %210 = getelementptr inbounds nuw i8, ptr %54, i64 680
  %211 = load i32, ptr %210, align 8
  %212 = getelementptr inbounds nuw i8, ptr %54, i64 688
  %213 = load atomic i64, ptr %212 monotonic, align 16
  %214 = sub i64 %123, %213
  br i1 %124, label %215, label %224

215:                                              ; preds = %209
  %216 = load atomic i64, ptr %32 monotonic, align 8
  %217 = shl nsw i64 %216, 3
  %218 = icmp sgt i64 %214, %217
  br i1 %218, label %235, label %219

219:                                              ; preds = %215
  %220 = sub nsw i64 %214, %216
  %221 = sdiv i64 %220, 8
  %222 = add nsw i64 %221, %216
  %223 = call i64 @llvm.smax.i64(i64 %222, i64 50)
  store atomic i64 %223, ptr %32 monotonic, align 8
  br label %235

224:                                              ; preds = %209
  %225 = icmp slt i64 %41, %213
  br i1 %225, label %226, label %235

226:                                              ; preds = %224
  %227 = load atomic i64, ptr %31 monotonic, align 8
  %228 = shl nsw i64 %227, 3
  %229 = icmp sgt i64 %214, %228
  br i1 %229, label %235, label %230

230:                                              ; preds = %226
  %231 = sub nsw i64 %214, %227
  %232 = sdiv i64 %231, 8
  %233 = add nsw i64 %232, %227
  %234 = call i64 @llvm.smax.i64(i64 %233, i64 50)
  store atomic i64 %234, ptr %31 monotonic, align 8
  br label %235

235:                                              ; preds = %230, %226, %224, %219, %215
  %236 = getelementptr inbounds nuw i8, ptr %54, i64 768
  %237 = atomicrmw add ptr %236, i32 %207 acq_rel, align 128
  %238 = and i32 %237, 1073741824
  %239 = icmp eq i32 %238, 0
  br i1 %239, label %246, label %240

240:                                              ; preds = %235
  %241 = and i32 %237, -1073741825
  %242 = add i32 %241, %207
  %243 = icmp eq i32 %242, %211
  br i1 %243, label %244, label %246

244:                                              ; preds = %240
  %245 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %236, i32 noundef 129, i32 noundef 1, ptr noundef null, ptr noundef null, i32 noundef 0) #8
  br label %246

246:                                              ; preds = %104, %206, %235, %240, %244
  %247 = atomicrmw sub ptr %23, i32 1 monotonic, align 128
  %248 = icmp eq i32 %93, 0
  br i1 %248, label %255, label %249

249:                                              ; preds = %246
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %7, ptr noundef nonnull readonly align 8 dereferenceable(128) %26, i64 128, i1 false)
  %250 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %7) #8
  %251 = icmp sgt i32 %250, 0
  br i1 %251, label %252, label %254

252:                                              ; preds = %249
  %253 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %7) #8
  br label %254

254:                                              ; preds = %249, %252
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #8
  br label %255

255:                                              ; preds = %254, %246
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #8
  %256 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %6) #8
  %257 = load i64, ptr %6, align 8
  %258 = mul nsw i64 %257, 1000000000
  %259 = load i64, ptr %33, align 8
  %260 = add nsw i64 %258, %259
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #8
  br label %345

261:                                              ; preds = %66, %37, %46
  call void asm sideeffect "yield", ""() #8
  %262 = and i32 %38, 15
  %263 = icmp eq i32 %262, 0
  br i1 %263, label %264, label %345

264:                                              ; preds = %261
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #8
  %265 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %5) #8
  %266 = load i64, ptr %5, align 8
  %267 = mul nsw i64 %266, 1000000000
  %268 = load i64, ptr %34, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #8
  %269 = sub i64 %268, %42
  %270 = add i64 %269, %267
  %271 = icmp slt i64 %270, 100000
  br i1 %271, label %345, label %272

272:                                              ; preds = %264
  %273 = load atomic i32, ptr %30 seq_cst, align 128
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %4, ptr noundef nonnull readonly align 8 dereferenceable(128) %26, i64 128, i1 false)
  %274 = icmp ult i32 %40, 1024
  br i1 %274, label %275, label %284

275:                                              ; preds = %272
  %276 = zext nneg i32 %40 to i64
  %277 = and i64 %276, 63
  %278 = shl nuw i64 1, %277
  %279 = xor i64 %278, -1
  %280 = lshr i64 %276, 6
  %281 = getelementptr inbounds nuw i64, ptr %4, i64 %280
  %282 = load i64, ptr %281, align 8
  %283 = and i64 %282, %279
  store i64 %283, ptr %281, align 8
  br label %284

284:                                              ; preds = %275, %272
  %285 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %4) #8
  %286 = icmp sgt i32 %285, 0
  br i1 %286, label %287, label %289

287:                                              ; preds = %284
  %288 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %4) #8
  br label %289

289:                                              ; preds = %287, %284
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #8
  %290 = atomicrmw add ptr %28, i32 1 seq_cst, align 128
  %291 = load atomic i32, ptr %23 monotonic, align 128
  %292 = load i32, ptr %24, align 4
  %293 = icmp slt i32 %291, %292
  br i1 %293, label %294, label %315

294:                                              ; preds = %289
  %295 = load atomic i32, ptr %25 acquire, align 4
  %296 = icmp sgt i32 %295, 0
  br i1 %296, label %297, label %315

297:                                              ; preds = %294
  %298 = zext nneg i32 %295 to i64
  br label %299

299:                                              ; preds = %312, %297
  %300 = phi i64 [ 0, %297 ], [ %313, %312 ]
  %301 = getelementptr inbounds nuw %struct.region, ptr %35, i64 %300
  %302 = load atomic i64, ptr %301 acquire, align 128
  %303 = lshr i64 %302, 32
  %304 = getelementptr inbounds nuw i64, ptr %11, i64 %300
  %305 = load i64, ptr %304, align 8
  %306 = icmp eq i64 %303, %305
  br i1 %306, label %312, label %307

307:                                              ; preds = %299
  %308 = and i64 %302, 65535
  %309 = lshr i64 %302, 16
  %310 = and i64 %309, 65535
  %311 = icmp samesign ult i64 %308, %310
  br i1 %311, label %317, label %312

312:                                              ; preds = %307, %299
  %313 = add nuw nsw i64 %300, 1
  %314 = icmp eq i64 %313, %298
  br i1 %314, label %315, label %299

315:                                              ; preds = %312, %294, %289
  %316 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %30, i32 noundef 128, i32 noundef %273, ptr noundef null, ptr noundef null, i32 noundef 0) #8
  br label %317

317:                                              ; preds = %307, %315
  %318 = atomicrmw sub ptr %28, i32 1 seq_cst, align 128
  %319 = load atomic i32, ptr %29 monotonic, align 4
  %320 = call i32 @sched_getcpu() #8
  %321 = icmp eq i32 %320, %319
  br i1 %321, label %322, label %339

322:                                              ; preds = %317
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %3, ptr noundef nonnull readonly align 8 dereferenceable(128) %26, i64 128, i1 false)
  %323 = icmp ult i32 %319, 1024
  br i1 %323, label %324, label %333

324:                                              ; preds = %322
  %325 = zext nneg i32 %319 to i64
  %326 = and i64 %325, 63
  %327 = shl nuw i64 1, %326
  %328 = xor i64 %327, -1
  %329 = lshr i64 %325, 6
  %330 = getelementptr inbounds nuw i64, ptr %3, i64 %329
  %331 = load i64, ptr %330, align 8
  %332 = and i64 %331, %328
  store i64 %332, ptr %330, align 8
  br label %333

333:                                              ; preds = %324, %322
  %334 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %3) #8
  %335 = icmp sgt i32 %334, 0
  br i1 %335, label %336, label %338

336:                                              ; preds = %333
  %337 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %3) #8
  br label %338

338:                                              ; preds = %333, %336
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #8
  br label %339

339:                                              ; preds = %338, %317
  call void @llvm.lifetime.start.p0(ptr nonnull %2) #8
  %340 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %2) #8
  %341 = load i64, ptr %2, align 8
  %342 = mul nsw i64 %341, 1000000000
  %343 = load i64, ptr %36, align 8
  %344 = add nsw i64 %342, %343
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #8
  br label %345

345:                                              ; preds = %261, %264, %339, %255
  %346 = phi i32 [ 0, %255 ], [ 1, %339 ], [ %39, %264 ], [ %39, %261 ]
  %347 = phi i32 [ %72, %255 ], [ %319, %339 ], [ %40, %264 ], [ %40, %261 ]
  %348 = phi i64 [ %260, %255 ], [ -1, %339 ], [ %41, %264 ], [ %41, %261 ]
  %349 = phi i64 [ %260, %255 ], [ %344, %339 ], [ %42, %264 ], [ %42, %261 ]
  %350 = add i32 %38, 1
  br label %37
}

; Function Attrs: nounwind
declare i32 @pthread_attr_destroy(ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @sched_getcpu() local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @sched_setaffinity(i32 noundef, i64 noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i64 @syscall(i64 noundef, ...) local_unnamed_addr #1

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


