
%struct.tw_caller = type { i32, i32, ptr }
%struct.cpu_set_t = type { [16 x i64] }
%struct.timespec = type { i64, i64 }
%struct.__sigset_t = type { [16 x i64] }
%union.pthread_attr_t = type { i64, [48 x i8] }
%struct.steps = type { i64, [120 x i8] }
%struct.region = type { i64, ptr, ptr, i64, i64, i32, i64, [72 x i8], i32, [124 x i8], i32, i32, [120 x i8], [256 x %struct.steps] }

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
  %20 = getelementptr inbounds nuw i8, ptr %3, i64 128
  %21 = atomicrmw add ptr %20, i32 1 monotonic, align 128
  br label %22

22:                                               ; preds = %14, %19, %2
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #2

; Function Attrs: nounwind
define internal fastcc ptr @ready_pool() unnamed_addr #1 {
  %1 = alloca %struct.cpu_set_t, align 8
  %2 = alloca i32, align 4
  %3 = load atomic i64, ptr @the_pool acquire, align 8
  %4 = icmp eq i64 %3, 0
  br i1 %4, label %5, label %33

5:                                                ; preds = %0
  %6 = tail call ptr @mmap(ptr noundef null, i64 noundef 530944, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) #7
  %7 = icmp eq ptr %6, inttoptr (i64 -1 to ptr)
  br i1 %7, label %72, label %8

8:                                                ; preds = %5
  %9 = tail call i32 @madvise(ptr noundef %6, i64 noundef 530944, i32 noundef 18) #7
  %10 = icmp ne i32 %9, 0
  %11 = zext i1 %10 to i32
  call void @llvm.lifetime.start.p0(ptr nonnull %2) #7
  %12 = call i32 @pthread_key_create(ptr noundef nonnull %2, ptr noundef null) #7
  %13 = icmp eq i32 %12, 0
  br i1 %13, label %16, label %14

14:                                               ; preds = %8
  %15 = call i32 @munmap(ptr noundef %6, i64 noundef 530944) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #7
  br label %72

16:                                               ; preds = %8
  %17 = atomicrmw xchg ptr @new_pool.claimed, i32 1 seq_cst, align 4
  %18 = icmp eq i32 %17, 0
  %19 = load i32, ptr %2, align 4
  br i1 %18, label %30, label %20

20:                                               ; preds = %16
  %21 = call i32 @pthread_key_delete(i32 noundef %19) #7
  %22 = call i32 @munmap(ptr noundef %6, i64 noundef 530944) #7
  %23 = load atomic i64, ptr @the_pool seq_cst, align 8
  %24 = icmp eq i64 %23, 0
  br i1 %24, label %25, label %28

25:                                               ; preds = %20, %25
  call void @llvm.x86.sse2.pause()
  %26 = load atomic i64, ptr @the_pool seq_cst, align 8
  %27 = icmp eq i64 %26, 0
  br i1 %27, label %25, label %28

28:                                               ; preds = %25, %20
  %29 = phi i64 [ %23, %20 ], [ %26, %25 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #7
  br label %33

30:                                               ; preds = %16
  store i32 %19, ptr @key, align 4
  store i32 %11, ptr @inherited, align 4
  %31 = ptrtoint ptr %6 to i64
  store atomic i64 %31, ptr @the_pool seq_cst, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #7
  %32 = icmp eq ptr %6, null
  br i1 %32, label %72, label %37

33:                                               ; preds = %0, %28
  %34 = phi i64 [ %29, %28 ], [ %3, %0 ]
  %35 = inttoptr i64 %34 to ptr
  %36 = load i32, ptr @inherited, align 4
  br label %37

37:                                               ; preds = %33, %30
  %38 = phi i32 [ %36, %33 ], [ %11, %30 ]
  %39 = phi ptr [ %35, %33 ], [ %6, %30 ]
  %40 = icmp eq i32 %38, 0
  br i1 %40, label %49, label %41

41:                                               ; preds = %37
  %42 = getelementptr inbounds nuw i8, ptr %39, i64 8
  %43 = load i32, ptr %42, align 8
  %44 = icmp eq i32 %43, 0
  br i1 %44, label %49, label %45

45:                                               ; preds = %41
  %46 = call i32 @getpid() #7
  %47 = icmp eq i32 %43, %46
  br i1 %47, label %49, label %48

48:                                               ; preds = %45
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 128 dereferenceable(530944) %39, i8 0, i64 530944, i1 false)
  br label %49

49:                                               ; preds = %48, %45, %41, %37
  %50 = load atomic i32, ptr %39 acquire, align 128
  %51 = icmp eq i32 %50, 2
  br i1 %51, label %72, label %52

52:                                               ; preds = %49
  %53 = cmpxchg ptr %39, i32 0, i32 1 seq_cst seq_cst, align 128
  %54 = extractvalue { i32, i1 } %53, 1
  br i1 %54, label %55, label %72

55:                                               ; preds = %52
  call void @llvm.lifetime.start.p0(ptr nonnull %1) #7
  %56 = call i32 @sched_getaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %1) #7
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %58, label %60

58:                                               ; preds = %55
  %59 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %1) #7
  br label %60

60:                                               ; preds = %55, %58
  %61 = phi i32 [ %59, %58 ], [ 256, %55 ]
  %62 = load atomic i32, ptr @cores_limit seq_cst, align 4
  %63 = icmp sgt i32 %62, 0
  %64 = call i32 @llvm.smin.i32(i32 %62, i32 %61)
  %65 = select i1 %63, i32 %64, i32 %61
  %66 = call range(i32 -2147483648, 257) i32 @llvm.smin.i32(i32 %65, i32 256)
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #7
  %67 = getelementptr inbounds nuw i8, ptr %39, i64 4
  store i32 %66, ptr %67, align 4
  %68 = call i32 @getpid() #7
  %69 = getelementptr inbounds nuw i8, ptr %39, i64 8
  store i32 %68, ptr %69, align 8
  %70 = getelementptr inbounds nuw i8, ptr %39, i64 24
  store atomic i64 250, ptr %70 seq_cst, align 8
  %71 = getelementptr inbounds nuw i8, ptr %39, i64 32
  store atomic i64 30000, ptr %71 seq_cst, align 32
  store atomic i32 2, ptr %39 seq_cst, align 128
  br label %72

72:                                               ; preds = %5, %14, %60, %52, %49, %30
  %73 = phi ptr [ %39, %49 ], [ null, %30 ], [ %39, %60 ], [ null, %52 ], [ null, %14 ], [ null, %5 ]
  ret ptr %73
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
  %17 = getelementptr inbounds nuw i8, ptr %3, i64 128
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
  br label %513

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
  br i1 %59, label %60, label %63

60:                                               ; preds = %52
  %61 = getelementptr inbounds nuw i8, ptr %17, i64 24
  %62 = load atomic i64, ptr %61 monotonic, align 8
  br label %71

63:                                               ; preds = %52
  %64 = load atomic i64, ptr %5 monotonic, align 8
  %65 = getelementptr inbounds nuw i8, ptr %17, i64 24
  %66 = load atomic i64, ptr %65 monotonic, align 8
  %67 = icmp sgt i64 %64, 0
  %68 = shl nsw i64 %66, 2
  %69 = icmp slt i64 %64, %68
  %70 = select i1 %67, i1 %69, i1 false
  br i1 %70, label %281, label %71

71:                                               ; preds = %63, %60
  %72 = phi i64 [ 0, %60 ], [ %64, %63 ]
  %73 = getelementptr inbounds nuw i8, ptr %17, i64 128
  %74 = load atomic i32, ptr %73 monotonic, align 128
  %75 = load i32, ptr %37, align 4
  %76 = icmp sgt i32 %74, %75
  br i1 %76, label %281, label %77

77:                                               ; preds = %71
  %78 = getelementptr inbounds nuw i8, ptr %17, i64 12
  %79 = load atomic i32, ptr %78 monotonic, align 4
  %80 = add nsw i32 %39, -1
  %81 = icmp slt i32 %79, %80
  br i1 %81, label %82, label %103

82:                                               ; preds = %77
  %83 = getelementptr inbounds nuw i8, ptr %17, i64 16
  %84 = atomicrmw xchg ptr %83, i32 1 seq_cst, align 16
  %85 = icmp eq i32 %84, 0
  br i1 %85, label %86, label %103

86:                                               ; preds = %82
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #7
  %87 = call i32 @sigfillset(ptr noundef nonnull %11) #7
  %88 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %11, ptr noundef nonnull %12) #7
  %89 = call i32 @pthread_attr_init(ptr noundef nonnull %13) #7
  %90 = call i32 @pthread_attr_setdetachstate(ptr noundef nonnull %13, i32 noundef 1) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #7
  %91 = load atomic i32, ptr %78 seq_cst, align 4
  %92 = icmp slt i32 %91, %80
  br i1 %92, label %93, label %100

93:                                               ; preds = %86, %96
  %94 = call i32 @pthread_create(ptr noundef nonnull %14, ptr noundef nonnull %13, ptr noundef nonnull @worker, ptr noundef nonnull %17) #7
  %95 = icmp eq i32 %94, 0
  br i1 %95, label %96, label %100

96:                                               ; preds = %93
  %97 = atomicrmw add ptr %78, i32 1 seq_cst, align 4
  %98 = load atomic i32, ptr %78 seq_cst, align 4
  %99 = icmp slt i32 %98, %80
  br i1 %99, label %93, label %100

100:                                              ; preds = %96, %93, %86
  %101 = call i32 @pthread_attr_destroy(ptr noundef nonnull %13) #7
  %102 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %12, ptr noundef null) #7
  store atomic i32 0, ptr %83 seq_cst, align 16
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #7
  br label %103

103:                                              ; preds = %100, %82, %77
  %104 = getelementptr inbounds nuw i8, ptr %17, i64 256
  %105 = load atomic i32, ptr %104 monotonic, align 128
  %106 = load atomic i32, ptr %78 monotonic, align 4
  %107 = sub nsw i32 %106, %105
  %108 = icmp sge i32 %107, %80
  %109 = icmp eq i32 %105, 0
  %110 = or i1 %109, %108
  br i1 %110, label %137, label %111

111:                                              ; preds = %103
  %112 = getelementptr inbounds nuw i8, ptr %17, i64 32
  %113 = load atomic i64, ptr %112 monotonic, align 32
  %114 = shl nsw i64 %113, 1
  %115 = icmp eq i64 %72, 0
  %116 = icmp sgt i64 %72, %114
  %117 = select i1 %115, i1 true, i1 %116
  br i1 %117, label %133, label %118

118:                                              ; preds = %111
  %119 = getelementptr inbounds nuw i8, ptr %17, i64 48
  %120 = load atomic i64, ptr %119 monotonic, align 16
  %121 = sub nsw i64 %58, %120
  %122 = icmp sgt i64 %121, 100000
  br i1 %122, label %126, label %123

123:                                              ; preds = %118
  %124 = getelementptr inbounds nuw i8, ptr %17, i64 40
  %125 = load atomic i64, ptr %124 monotonic, align 8
  br label %126

126:                                              ; preds = %123, %118
  %127 = phi i64 [ %125, %123 ], [ 0, %118 ]
  %128 = add nsw i64 %127, %72
  %129 = icmp sgt i64 %128, %114
  %130 = getelementptr inbounds nuw i8, ptr %17, i64 40
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
  %141 = getelementptr inbounds nuw i8, ptr %17, i64 768
  %142 = load atomic i32, ptr %141 monotonic, align 128
  %143 = icmp eq i32 %142, 0
  br i1 %143, label %144, label %161

144:                                              ; preds = %139
  %145 = getelementptr inbounds nuw i8, ptr %17, i64 512
  %146 = atomicrmw xchg ptr %141, i32 1 acquire, align 128
  %147 = icmp eq i32 %146, 0
  br i1 %147, label %148, label %161

148:                                              ; preds = %277, %269, %261, %253, %245, %237, %229, %221, %213, %205, %197, %189, %181, %173, %165, %144
  %149 = phi i32 [ 0, %144 ], [ 1, %165 ], [ 2, %173 ], [ 3, %181 ], [ 4, %189 ], [ 5, %197 ], [ 6, %205 ], [ 7, %213 ], [ 8, %221 ], [ 9, %229 ], [ 10, %237 ], [ 11, %245 ], [ 12, %253 ], [ 13, %261 ], [ 14, %269 ], [ 15, %277 ]
  %150 = phi ptr [ %145, %144 ], [ %166, %165 ], [ %174, %173 ], [ %182, %181 ], [ %190, %189 ], [ %198, %197 ], [ %206, %205 ], [ %214, %213 ], [ %222, %221 ], [ %230, %229 ], [ %238, %237 ], [ %246, %245 ], [ %254, %253 ], [ %262, %261 ], [ %270, %269 ], [ %278, %277 ]
  %151 = getelementptr inbounds nuw i8, ptr %17, i64 20
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
  %162 = getelementptr inbounds nuw i8, ptr %17, i64 33920
  %163 = load atomic i32, ptr %162 monotonic, align 128
  %164 = icmp eq i32 %163, 0
  br i1 %164, label %165, label %169

165:                                              ; preds = %161
  %166 = getelementptr inbounds nuw i8, ptr %17, i64 33664
  %167 = atomicrmw xchg ptr %162, i32 1 acquire, align 128
  %168 = icmp eq i32 %167, 0
  br i1 %168, label %148, label %169

169:                                              ; preds = %165, %161
  %170 = getelementptr inbounds nuw i8, ptr %17, i64 67072
  %171 = load atomic i32, ptr %170 monotonic, align 128
  %172 = icmp eq i32 %171, 0
  br i1 %172, label %173, label %177

173:                                              ; preds = %169
  %174 = getelementptr inbounds nuw i8, ptr %17, i64 66816
  %175 = atomicrmw xchg ptr %170, i32 1 acquire, align 128
  %176 = icmp eq i32 %175, 0
  br i1 %176, label %148, label %177

177:                                              ; preds = %173, %169
  %178 = getelementptr inbounds nuw i8, ptr %17, i64 100224
  %179 = load atomic i32, ptr %178 monotonic, align 128
  %180 = icmp eq i32 %179, 0
  br i1 %180, label %181, label %185

181:                                              ; preds = %177
  %182 = getelementptr inbounds nuw i8, ptr %17, i64 99968
  %183 = atomicrmw xchg ptr %178, i32 1 acquire, align 128
  %184 = icmp eq i32 %183, 0
  br i1 %184, label %148, label %185

185:                                              ; preds = %181, %177
  %186 = getelementptr inbounds nuw i8, ptr %17, i64 133376
  %187 = load atomic i32, ptr %186 monotonic, align 128
  %188 = icmp eq i32 %187, 0
  br i1 %188, label %189, label %193

189:                                              ; preds = %185
  %190 = getelementptr inbounds nuw i8, ptr %17, i64 133120
  %191 = atomicrmw xchg ptr %186, i32 1 acquire, align 128
  %192 = icmp eq i32 %191, 0
  br i1 %192, label %148, label %193

193:                                              ; preds = %189, %185
  %194 = getelementptr inbounds nuw i8, ptr %17, i64 166528
  %195 = load atomic i32, ptr %194 monotonic, align 128
  %196 = icmp eq i32 %195, 0
  br i1 %196, label %197, label %201

197:                                              ; preds = %193
  %198 = getelementptr inbounds nuw i8, ptr %17, i64 166272
  %199 = atomicrmw xchg ptr %194, i32 1 acquire, align 128
  %200 = icmp eq i32 %199, 0
  br i1 %200, label %148, label %201

201:                                              ; preds = %197, %193
  %202 = getelementptr inbounds nuw i8, ptr %17, i64 199680
  %203 = load atomic i32, ptr %202 monotonic, align 128
  %204 = icmp eq i32 %203, 0
  br i1 %204, label %205, label %209

205:                                              ; preds = %201
  %206 = getelementptr inbounds nuw i8, ptr %17, i64 199424
  %207 = atomicrmw xchg ptr %202, i32 1 acquire, align 128
  %208 = icmp eq i32 %207, 0
  br i1 %208, label %148, label %209

209:                                              ; preds = %205, %201
  %210 = getelementptr inbounds nuw i8, ptr %17, i64 232832
  %211 = load atomic i32, ptr %210 monotonic, align 128
  %212 = icmp eq i32 %211, 0
  br i1 %212, label %213, label %217

213:                                              ; preds = %209
  %214 = getelementptr inbounds nuw i8, ptr %17, i64 232576
  %215 = atomicrmw xchg ptr %210, i32 1 acquire, align 128
  %216 = icmp eq i32 %215, 0
  br i1 %216, label %148, label %217

217:                                              ; preds = %213, %209
  %218 = getelementptr inbounds nuw i8, ptr %17, i64 265984
  %219 = load atomic i32, ptr %218 monotonic, align 128
  %220 = icmp eq i32 %219, 0
  br i1 %220, label %221, label %225

221:                                              ; preds = %217
  %222 = getelementptr inbounds nuw i8, ptr %17, i64 265728
  %223 = atomicrmw xchg ptr %218, i32 1 acquire, align 128
  %224 = icmp eq i32 %223, 0
  br i1 %224, label %148, label %225

225:                                              ; preds = %221, %217
  %226 = getelementptr inbounds nuw i8, ptr %17, i64 299136
  %227 = load atomic i32, ptr %226 monotonic, align 128
  %228 = icmp eq i32 %227, 0
  br i1 %228, label %229, label %233

229:                                              ; preds = %225
  %230 = getelementptr inbounds nuw i8, ptr %17, i64 298880
  %231 = atomicrmw xchg ptr %226, i32 1 acquire, align 128
  %232 = icmp eq i32 %231, 0
  br i1 %232, label %148, label %233

233:                                              ; preds = %229, %225
  %234 = getelementptr inbounds nuw i8, ptr %17, i64 332288
  %235 = load atomic i32, ptr %234 monotonic, align 128
  %236 = icmp eq i32 %235, 0
  br i1 %236, label %237, label %241

237:                                              ; preds = %233
  %238 = getelementptr inbounds nuw i8, ptr %17, i64 332032
  %239 = atomicrmw xchg ptr %234, i32 1 acquire, align 128
  %240 = icmp eq i32 %239, 0
  br i1 %240, label %148, label %241

241:                                              ; preds = %237, %233
  %242 = getelementptr inbounds nuw i8, ptr %17, i64 365440
  %243 = load atomic i32, ptr %242 monotonic, align 128
  %244 = icmp eq i32 %243, 0
  br i1 %244, label %245, label %249

245:                                              ; preds = %241
  %246 = getelementptr inbounds nuw i8, ptr %17, i64 365184
  %247 = atomicrmw xchg ptr %242, i32 1 acquire, align 128
  %248 = icmp eq i32 %247, 0
  br i1 %248, label %148, label %249

249:                                              ; preds = %245, %241
  %250 = getelementptr inbounds nuw i8, ptr %17, i64 398592
  %251 = load atomic i32, ptr %250 monotonic, align 128
  %252 = icmp eq i32 %251, 0
  br i1 %252, label %253, label %257

253:                                              ; preds = %249
  %254 = getelementptr inbounds nuw i8, ptr %17, i64 398336
  %255 = atomicrmw xchg ptr %250, i32 1 acquire, align 128
  %256 = icmp eq i32 %255, 0
  br i1 %256, label %148, label %257

257:                                              ; preds = %253, %249
  %258 = getelementptr inbounds nuw i8, ptr %17, i64 431744
  %259 = load atomic i32, ptr %258 monotonic, align 128
  %260 = icmp eq i32 %259, 0
  br i1 %260, label %261, label %265

261:                                              ; preds = %257
  %262 = getelementptr inbounds nuw i8, ptr %17, i64 431488
  %263 = atomicrmw xchg ptr %258, i32 1 acquire, align 128
  %264 = icmp eq i32 %263, 0
  br i1 %264, label %148, label %265

265:                                              ; preds = %261, %257
  %266 = getelementptr inbounds nuw i8, ptr %17, i64 464896
  %267 = load atomic i32, ptr %266 monotonic, align 128
  %268 = icmp eq i32 %267, 0
  br i1 %268, label %269, label %273

269:                                              ; preds = %265
  %270 = getelementptr inbounds nuw i8, ptr %17, i64 464640
  %271 = atomicrmw xchg ptr %266, i32 1 acquire, align 128
  %272 = icmp eq i32 %271, 0
  br i1 %272, label %148, label %273

273:                                              ; preds = %269, %265
  %274 = getelementptr inbounds nuw i8, ptr %17, i64 498048
  %275 = load atomic i32, ptr %274 monotonic, align 128
  %276 = icmp eq i32 %275, 0
  br i1 %276, label %277, label %281

277:                                              ; preds = %273
  %278 = getelementptr inbounds nuw i8, ptr %17, i64 497792
  %279 = atomicrmw xchg ptr %274, i32 1 acquire, align 128
  %280 = icmp eq i32 %279, 0
  br i1 %280, label %148, label %281

281:                                              ; preds = %277, %273, %137, %71, %63
  %282 = load i32, ptr %43, align 4
  store i32 1, ptr %43, align 4
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #7
  store i32 %282, ptr %43, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #7
  %283 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #7
  %284 = load i64, ptr %10, align 8
  %285 = mul nsw i64 %284, 1000000000
  %286 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %287 = load i64, ptr %286, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #7
  %288 = sub i64 %287, %58
  %289 = add i64 %288, %285
  br label %498

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
  %300 = phi i64 [ 1, %295 ], [ %297, %296 ]
  %301 = phi i64 [ 4294967296, %295 ], [ %298, %296 ]
  %302 = getelementptr inbounds nuw i8, ptr %150, i64 8
  store ptr %0, ptr %302, align 8
  %303 = getelementptr inbounds nuw i8, ptr %150, i64 16
  store ptr %1, ptr %303, align 16
  %304 = getelementptr inbounds nuw i8, ptr %150, i64 24
  store i64 %2, ptr %304, align 8
  %305 = getelementptr inbounds nuw i8, ptr %150, i64 32
  store i64 %3, ptr %305, align 32
  %306 = sext i64 %2 to i128
  %307 = zext nneg i32 %39 to i128
  br label %314

308:                                              ; preds = %314
  %309 = getelementptr inbounds nuw i8, ptr %150, i64 40
  store i32 %331, ptr %309, align 8
  %310 = getelementptr inbounds nuw i8, ptr %150, i64 48
  store atomic i64 %58, ptr %310 monotonic, align 16
  %311 = getelementptr inbounds nuw i8, ptr %150, i64 128
  store atomic i32 0, ptr %311 monotonic, align 128
  %312 = getelementptr inbounds nuw i8, ptr %150, i64 384
  %313 = zext nneg i32 %39 to i64
  br label %333

314:                                              ; preds = %314, %299
  %315 = phi i32 [ 0, %299 ], [ %321, %314 ]
  %316 = phi i32 [ 0, %299 ], [ %331, %314 ]
  %317 = zext nneg i32 %315 to i128
  %318 = mul nsw i128 %317, %306
  %319 = sdiv i128 %318, %307
  %320 = trunc i128 %319 to i64
  %321 = add nuw nsw i32 %315, 1
  %322 = zext nneg i32 %321 to i128
  %323 = mul nsw i128 %322, %306
  %324 = sdiv i128 %323, %307
  %325 = trunc i128 %324 to i64
  %326 = xor i64 %320, -1
  %327 = add i64 %3, %326
  %328 = add i64 %327, %325
  %329 = sdiv i64 %328, %3
  %330 = trunc i64 %329 to i32
  %331 = add i32 %316, %330
  %332 = icmp eq i32 %321, %39
  br i1 %332, label %308, label %314

333:                                              ; preds = %333, %308
  %334 = phi i64 [ 0, %308 ], [ %339, %333 ]
  %335 = zext nneg i64 %334 to i128
  %336 = mul nsw i128 %335, %306
  %337 = sdiv i128 %336, %307
  %338 = trunc i128 %337 to i64
  %339 = add nuw nsw i64 %334, 1
  %340 = zext nneg i64 %339 to i128
  %341 = mul nsw i128 %340, %306
  %342 = sdiv i128 %341, %307
  %343 = trunc i128 %342 to i64
  %344 = xor i64 %338, -1
  %345 = add i64 %3, %344
  %346 = add i64 %345, %343
  %347 = sdiv i64 %346, %3
  %348 = getelementptr inbounds nuw %struct.steps, ptr %312, i64 %334
  %349 = and i64 %347, 4294967295
  %350 = or disjoint i64 %349, %301
  store atomic i64 %350, ptr %348 release, align 128
  %351 = icmp eq i64 %339, %313
  br i1 %351, label %352, label %333

352:                                              ; preds = %333
  %353 = shl i32 %39, 16
  %354 = or disjoint i32 %353, 1
  %355 = zext i32 %354 to i64
  %356 = or disjoint i64 %301, %355
  store atomic i64 %356, ptr %150 release, align 128
  %357 = load atomic i64, ptr %150 monotonic, align 128
  %358 = trunc i64 %357 to i32
  %359 = lshr i32 %358, 16
  %360 = icmp eq i32 %140, 0
  br i1 %360, label %371, label %361

361:                                              ; preds = %352
  %362 = getelementptr inbounds nuw i8, ptr %17, i64 384
  %363 = atomicrmw add ptr %362, i32 1 seq_cst, align 128
  %364 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %362, i32 noundef 129, i32 noundef range(i32 1, 3) %140, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #7
  %365 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %9) #7
  %366 = load i64, ptr %9, align 8
  %367 = mul nsw i64 %366, 1000000000
  %368 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %369 = load i64, ptr %368, align 8
  %370 = add nsw i64 %367, %369
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #7
  br label %371

371:                                              ; preds = %361, %352
  %372 = phi i64 [ %370, %361 ], [ %58, %352 ]
  store i32 1, ptr %43, align 4
  %373 = icmp eq i32 %359, 0
  br i1 %373, label %374, label %375

374:                                              ; preds = %371
  store i32 0, ptr %43, align 4
  br label %448

375:                                              ; preds = %371
  %376 = zext nneg i32 %359 to i128
  %377 = zext nneg i32 %359 to i64
  br label %378

378:                                              ; preds = %432, %375
  %379 = phi i64 [ %384, %432 ], [ 0, %375 ]
  %380 = phi i32 [ %390, %432 ], [ 0, %375 ]
  %381 = getelementptr inbounds nuw %struct.steps, ptr %312, i64 %379
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
  %394 = icmp ne i64 %393, %300
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
  %406 = load i64, ptr %304, align 8
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
  %417 = load i64, ptr %305, align 32
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
  %428 = load ptr, ptr %302, align 8
  %429 = load ptr, ptr %303, align 16
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
  %442 = sub i64 %441, %372
  %443 = add i64 %442, %439
  %444 = zext i32 %331 to i64
  %445 = mul nsw i64 %443, %444
  %446 = zext i32 %390 to i64
  %447 = sdiv i64 %445, %446
  br label %448

448:                                              ; preds = %436, %434, %374
  %449 = phi i32 [ %390, %436 ], [ 0, %434 ], [ 0, %374 ]
  %450 = phi i64 [ %447, %436 ], [ 0, %434 ], [ 0, %374 ]
  %451 = load i32, ptr %309, align 8
  %452 = icmp eq i32 %449, %451
  br i1 %452, label %496, label %453

453:                                              ; preds = %448
  %454 = atomicrmw add ptr %311, i32 %449 acq_rel, align 128
  %455 = load atomic i32, ptr %311 acquire, align 128
  %456 = and i32 %455, -1073741825
  %457 = icmp eq i32 %456, %451
  br i1 %457, label %496, label %458

458:                                              ; preds = %453
  %459 = getelementptr inbounds nuw i8, ptr %7, i64 8
  br label %460

460:                                              ; preds = %490, %458
  %461 = phi i32 [ %455, %458 ], [ %493, %490 ]
  %462 = phi i64 [ 0, %458 ], [ %491, %490 ]
  %463 = phi i32 [ 1, %458 ], [ %492, %490 ]
  %464 = load atomic i64, ptr %150 monotonic, align 128
  %465 = lshr i64 %464, 32
  %466 = icmp eq i64 %465, %300
  br i1 %466, label %467, label %496

467:                                              ; preds = %460
  call void @llvm.x86.sse2.pause()
  %468 = and i32 %463, 15
  %469 = icmp eq i32 %468, 0
  br i1 %469, label %470, label %490

470:                                              ; preds = %467
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #7
  %471 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %7) #7
  %472 = load i64, ptr %7, align 8
  %473 = mul nsw i64 %472, 1000000000
  %474 = load i64, ptr %459, align 8
  %475 = add nsw i64 %473, %474
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #7
  %476 = icmp eq i64 %462, 0
  %477 = select i1 %476, i64 %475, i64 %462
  %478 = sub nsw i64 %475, %477
  %479 = icmp slt i64 %478, 30000
  br i1 %479, label %490, label %480

480:                                              ; preds = %470
  %481 = and i32 %461, 1073741824
  %482 = icmp eq i32 %481, 0
  br i1 %482, label %483, label %487

483:                                              ; preds = %480
  %484 = or disjoint i32 %461, 1073741824
  %485 = cmpxchg ptr %311, i32 %461, i32 %484 seq_cst seq_cst, align 128
  %486 = extractvalue { i32, i1 } %485, 1
  br i1 %486, label %487, label %490

487:                                              ; preds = %483, %480
  %488 = phi i32 [ %484, %483 ], [ %461, %480 ]
  %489 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %311, i32 noundef 128, i32 noundef %488, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  br label %490

490:                                              ; preds = %487, %483, %470, %467
  %491 = phi i64 [ %477, %470 ], [ %477, %487 ], [ %477, %483 ], [ %462, %467 ]
  %492 = add i32 %463, 1
  %493 = load atomic i32, ptr %311 acquire, align 128
  %494 = and i32 %493, -1073741825
  %495 = icmp eq i32 %494, %451
  br i1 %495, label %496, label %460

496:                                              ; preds = %490, %460, %453, %448
  %497 = getelementptr inbounds nuw i8, ptr %150, i64 256
  store atomic i32 0, ptr %497 release, align 128
  br label %498

498:                                              ; preds = %496, %281
  %499 = phi i64 [ %289, %281 ], [ %450, %496 ]
  %500 = icmp slt i64 %499, 1
  %501 = or i1 %59, %500
  br i1 %501, label %513, label %502

502:                                              ; preds = %498
  %503 = load atomic i64, ptr %5 monotonic, align 8
  %504 = icmp sgt i64 %503, 0
  br i1 %504, label %505, label %511

505:                                              ; preds = %502
  %506 = sub nsw i64 %499, %503
  %507 = icmp samesign ult i64 %499, %503
  %508 = select i1 %507, i64 2, i64 8
  %509 = sdiv i64 %506, %508
  %510 = add nsw i64 %509, %503
  br label %511

511:                                              ; preds = %505, %502
  %512 = phi i64 [ %510, %505 ], [ %499, %502 ]
  store atomic i64 %512, ptr %5 monotonic, align 8
  br label %513

513:                                              ; preds = %511, %498, %46
  %514 = phi i1 [ %27, %511 ], [ %27, %498 ], [ %47, %46 ]
  %515 = or i1 %18, %514
  br i1 %515, label %519, label %516

516:                                              ; preds = %513
  %517 = load i32, ptr @key, align 4
  %518 = call i32 @pthread_setspecific(i32 noundef %517, ptr noundef null) #7
  br label %519

519:                                              ; preds = %516, %513
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
  %27 = getelementptr inbounds nuw i8, ptr %10, i64 128
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
  %46 = getelementptr inbounds nuw i8, ptr %33, i64 128
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
  %40 = getelementptr inbounds nuw i8, ptr %23, i64 128
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
  %109 = getelementptr inbounds nuw i8, ptr %96, i64 128
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
  %3 = alloca %struct.timespec, align 8
  %4 = alloca %struct.timespec, align 8
  %5 = alloca %struct.timespec, align 8
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = alloca [16 x i64], align 16
  %9 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #7
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(128) %8, i8 0, i64 128, i1 false)
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #7
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %9, ptr noundef nonnull align 8 dereferenceable(16) @__const.worker.me, i64 16, i1 false)
  %10 = load i32, ptr @key, align 4
  %11 = call i32 @pthread_setspecific(i32 noundef %10, ptr noundef nonnull %9) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %7)
  call void @llvm.x86.sse.stmxcsr(ptr nonnull %7)
  %12 = load i32, ptr %7, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %7)
  %13 = or i32 %12, 32832
  call void @llvm.lifetime.start.p0(ptr nonnull %6)
  store i32 %13, ptr %6, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr nonnull %6)
  call void @llvm.lifetime.end.p0(ptr nonnull %6)
  %14 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 4
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 20
  %18 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 384
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %23 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %24 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 512
  br label %26

26:                                               ; preds = %266, %1
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #7
  %27 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %5) #7
  %28 = load i64, ptr %5, align 8
  %29 = mul nsw i64 %28, 1000000000
  %30 = load i64, ptr %14, align 8
  %31 = add nsw i64 %29, %30
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #7
  br label %32

32:                                               ; preds = %233, %26
  %33 = phi i32 [ 1, %26 ], [ %236, %233 ]
  %34 = phi i64 [ %31, %26 ], [ %235, %233 ]
  %35 = phi i64 [ -1, %26 ], [ %234, %233 ]
  %36 = load atomic i32, ptr %15 monotonic, align 128
  %37 = load i32, ptr %16, align 4
  %38 = icmp slt i32 %36, %37
  br i1 %38, label %39, label %222

39:                                               ; preds = %32
  %40 = load atomic i32, ptr %17 acquire, align 4
  %41 = icmp sgt i32 %40, 0
  br i1 %41, label %42, label %222

42:                                               ; preds = %39
  %43 = zext nneg i32 %40 to i64
  br label %44

44:                                               ; preds = %59, %42
  %45 = phi i64 [ 0, %42 ], [ %60, %59 ]
  %46 = mul nuw nsw i64 %45, 33152
  %47 = getelementptr inbounds nuw i8, ptr %0, i64 %46
  %48 = getelementptr inbounds nuw i8, ptr %47, i64 512
  %49 = load atomic i64, ptr %48 acquire, align 128
  %50 = lshr i64 %49, 32
  %51 = getelementptr inbounds nuw i64, ptr %8, i64 %45
  %52 = load i64, ptr %51, align 8
  %53 = icmp eq i64 %50, %52
  br i1 %53, label %59, label %54

54:                                               ; preds = %44
  %55 = and i64 %49, 65535
  %56 = lshr i64 %49, 16
  %57 = and i64 %56, 65535
  %58 = icmp samesign ult i64 %55, %57
  br i1 %58, label %62, label %59

59:                                               ; preds = %54, %44
  %60 = add nuw nsw i64 %45, 1
  %61 = icmp eq i64 %60, %43
  br i1 %61, label %222, label %44

62:                                               ; preds = %54
  %63 = getelementptr inbounds nuw i8, ptr %47, i64 512
  %64 = load atomic i64, ptr %63 seq_cst, align 128
  %65 = lshr i64 %64, 32
  %66 = shl nsw i64 %45, 3
  %67 = getelementptr inbounds nuw i8, ptr %8, i64 %66
  store i64 %65, ptr %67, align 8
  %68 = atomicrmw add ptr %15, i32 1 monotonic, align 128
  %69 = load atomic i64, ptr %63 acquire, align 128
  %70 = lshr i64 %69, 32
  %71 = trunc i64 %69 to i32
  %72 = lshr i32 %71, 16
  %73 = zext nneg i32 %72 to i64
  br label %74

74:                                               ; preds = %81, %62
  %75 = phi i64 [ %69, %62 ], [ %85, %81 ]
  %76 = lshr i64 %75, 32
  %77 = icmp eq i64 %76, %70
  %78 = and i64 %75, 65535
  %79 = icmp samesign ult i64 %78, %73
  %80 = select i1 %77, i1 %79, i1 false
  br i1 %80, label %81, label %215

81:                                               ; preds = %74
  %82 = add i64 %75, 1
  %83 = cmpxchg weak ptr %63, i64 %75, i64 %82 acq_rel acquire, align 128
  %84 = extractvalue { i64, i1 } %83, 1
  %85 = extractvalue { i64, i1 } %83, 0
  br i1 %84, label %86, label %74

86:                                               ; preds = %81
  %87 = trunc i64 %75 to i32
  %88 = and i32 %87, 65535
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #7
  %89 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %4) #7
  %90 = load i64, ptr %4, align 8
  %91 = mul nsw i64 %90, 1000000000
  %92 = load i64, ptr %18, align 8
  %93 = add nsw i64 %91, %92
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #7
  %94 = icmp slt i64 %35, 0
  %95 = add nuw nsw i32 %88, 1
  %96 = icmp samesign ult i32 %95, %72
  %97 = select i1 %94, i1 %96, i1 false
  br i1 %97, label %98, label %104

98:                                               ; preds = %86
  %99 = load atomic i32, ptr %19 seq_cst, align 128
  %100 = icmp sgt i32 %99, 0
  br i1 %100, label %101, label %104

101:                                              ; preds = %98
  %102 = atomicrmw add ptr %20, i32 1 seq_cst, align 128
  %103 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %20, i32 noundef 129, i32 noundef range(i32 1, 3) 2, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  br label %104

104:                                              ; preds = %101, %98, %86
  %105 = getelementptr inbounds nuw i8, ptr %47, i64 896
  %106 = getelementptr inbounds nuw i8, ptr %47, i64 536
  %107 = zext nneg i32 %72 to i128
  %108 = getelementptr inbounds nuw i8, ptr %47, i64 544
  %109 = getelementptr inbounds nuw i8, ptr %47, i64 520
  %110 = getelementptr inbounds nuw i8, ptr %47, i64 528
  br label %111

111:                                              ; preds = %172, %104
  %112 = phi i32 [ 0, %104 ], [ %126, %172 ]
  %113 = phi i32 [ 0, %104 ], [ %173, %172 ]
  %114 = add nuw nsw i32 %113, %88
  %115 = urem i32 %114, %72
  %116 = zext nneg i32 %115 to i64
  %117 = getelementptr inbounds nuw %struct.steps, ptr %105, i64 %116
  %118 = load atomic i64, ptr %117 acquire, align 8
  %119 = zext nneg i32 %115 to i128
  %120 = add nuw nsw i32 %115, 1
  %121 = zext nneg i32 %120 to i128
  br label %122

122:                                              ; preds = %170, %111
  %123 = phi i64 [ %151, %170 ], [ -1, %111 ]
  %124 = phi i64 [ %152, %170 ], [ 0, %111 ]
  %125 = phi i64 [ %171, %170 ], [ %118, %111 ]
  %126 = phi i32 [ %166, %170 ], [ %112, %111 ]
  br label %127

127:                                              ; preds = %134, %122
  %128 = phi i64 [ %138, %134 ], [ %125, %122 ]
  %129 = lshr i64 %128, 32
  %130 = icmp ne i64 %129, %70
  %131 = and i64 %128, 4294967295
  %132 = icmp eq i64 %131, 0
  %133 = or i1 %130, %132
  br i1 %133, label %172, label %134

134:                                              ; preds = %127
  %135 = add i64 %128, -1
  %136 = cmpxchg weak ptr %117, i64 %128, i64 %135 acq_rel acquire, align 8
  %137 = extractvalue { i64, i1 } %136, 1
  %138 = extractvalue { i64, i1 } %136, 0
  br i1 %137, label %139, label %127

139:                                              ; preds = %134
  %140 = icmp slt i64 %123, 0
  br i1 %140, label %141, label %150

141:                                              ; preds = %139
  %142 = load i64, ptr %106, align 8
  %143 = sext i64 %142 to i128
  %144 = mul nsw i128 %143, %119
  %145 = sdiv i128 %144, %107
  %146 = trunc i128 %145 to i64
  %147 = mul nsw i128 %143, %121
  %148 = sdiv i128 %147, %107
  %149 = trunc i128 %148 to i64
  br label %150

150:                                              ; preds = %139, %141
  %151 = phi i64 [ %149, %141 ], [ %123, %139 ]
  %152 = phi i64 [ %146, %141 ], [ %124, %139 ]
  %153 = load i64, ptr %108, align 32
  %154 = xor i64 %152, -1
  %155 = add i64 %151, %154
  %156 = add i64 %155, %153
  %157 = sdiv i64 %156, %153
  %158 = sub i64 %157, %128
  %159 = and i64 %158, 4294967295
  %160 = mul nsw i64 %159, %153
  %161 = add nsw i64 %160, %152
  %162 = add nsw i64 %161, %153
  %163 = call i64 @llvm.smin.i64(i64 %162, i64 %151)
  %164 = load ptr, ptr %109, align 8
  %165 = load ptr, ptr %110, align 16
  call void %164(ptr noundef %165, i64 noundef %161, i64 noundef %163, i64 noundef %78) #7
  %166 = add i32 %126, 1
  %167 = load atomic i32, ptr %15 monotonic, align 128
  %168 = load i32, ptr %16, align 4
  %169 = icmp sgt i32 %167, %168
  br i1 %169, label %175, label %170

170:                                              ; preds = %150
  %171 = load atomic i64, ptr %117 acquire, align 8
  br label %122

172:                                              ; preds = %127
  %173 = add nuw nsw i32 %113, 1
  %174 = icmp eq i32 %173, %72
  br i1 %174, label %175, label %111

175:                                              ; preds = %172, %150
  %176 = phi i32 [ %166, %150 ], [ %126, %172 ]
  %177 = icmp eq i32 %176, 0
  br i1 %177, label %215, label %178

178:                                              ; preds = %175
  %179 = getelementptr inbounds nuw i8, ptr %47, i64 552
  %180 = load i32, ptr %179, align 8
  %181 = getelementptr inbounds nuw i8, ptr %47, i64 560
  %182 = load atomic i64, ptr %181 monotonic, align 16
  %183 = sub i64 %93, %182
  br i1 %94, label %184, label %193

184:                                              ; preds = %178
  %185 = load atomic i64, ptr %22 monotonic, align 8
  %186 = shl nsw i64 %185, 3
  %187 = icmp sgt i64 %183, %186
  br i1 %187, label %204, label %188

188:                                              ; preds = %184
  %189 = sub nsw i64 %183, %185
  %190 = sdiv i64 %189, 8
  %191 = add nsw i64 %190, %185
  %192 = call i64 @llvm.smax.i64(i64 %191, i64 50)
  store atomic i64 %192, ptr %22 monotonic, align 8
  br label %204

193:                                              ; preds = %178
  %194 = icmp slt i64 %35, %182
  br i1 %194, label %195, label %204

195:                                              ; preds = %193
  %196 = load atomic i64, ptr %21 monotonic, align 8
  %197 = shl nsw i64 %196, 3
  %198 = icmp sgt i64 %183, %197
  br i1 %198, label %204, label %199

199:                                              ; preds = %195
  %200 = sub nsw i64 %183, %196
  %201 = sdiv i64 %200, 8
  %202 = add nsw i64 %201, %196
  %203 = call i64 @llvm.smax.i64(i64 %202, i64 50)
  store atomic i64 %203, ptr %21 monotonic, align 8
  br label %204

204:                                              ; preds = %199, %195, %193, %188, %184
  %205 = getelementptr inbounds nuw i8, ptr %47, i64 640
  %206 = atomicrmw add ptr %205, i32 %176 acq_rel, align 128
  %207 = and i32 %206, 1073741824
  %208 = icmp eq i32 %207, 0
  br i1 %208, label %215, label %209

209:                                              ; preds = %204
  %210 = and i32 %206, -1073741825
  %211 = add i32 %210, %176
  %212 = icmp eq i32 %211, %180
  br i1 %212, label %213, label %215

213:                                              ; preds = %209
  %214 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %205, i32 noundef 129, i32 noundef 1, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  br label %215

215:                                              ; preds = %74, %175, %204, %209, %213
  %216 = atomicrmw sub ptr %15, i32 1 monotonic, align 128
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #7
  %217 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %3) #7
  %218 = load i64, ptr %3, align 8
  %219 = mul nsw i64 %218, 1000000000
  %220 = load i64, ptr %23, align 8
  %221 = add nsw i64 %219, %220
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #7
  br label %233

222:                                              ; preds = %59, %32, %39
  call void @llvm.x86.sse2.pause()
  %223 = and i32 %33, 15
  %224 = icmp eq i32 %223, 0
  br i1 %224, label %225, label %233

225:                                              ; preds = %222
  call void @llvm.lifetime.start.p0(ptr nonnull %2) #7
  %226 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %2) #7
  %227 = load i64, ptr %2, align 8
  %228 = mul nsw i64 %227, 1000000000
  %229 = load i64, ptr %24, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #7
  %230 = sub i64 %229, %34
  %231 = add i64 %230, %228
  %232 = icmp slt i64 %231, 100001
  br i1 %232, label %233, label %237

233:                                              ; preds = %215, %222, %225
  %234 = phi i64 [ %35, %225 ], [ %35, %222 ], [ %221, %215 ]
  %235 = phi i64 [ %34, %225 ], [ %34, %222 ], [ %221, %215 ]
  %236 = add i32 %33, 1
  br label %32

237:                                              ; preds = %225
  %238 = load atomic i32, ptr %20 seq_cst, align 128
  %239 = atomicrmw add ptr %19, i32 1 seq_cst, align 128
  %240 = load atomic i32, ptr %15 monotonic, align 128
  %241 = load i32, ptr %16, align 4
  %242 = icmp slt i32 %240, %241
  br i1 %242, label %243, label %264

243:                                              ; preds = %237
  %244 = load atomic i32, ptr %17 acquire, align 4
  %245 = icmp sgt i32 %244, 0
  br i1 %245, label %246, label %264

246:                                              ; preds = %243
  %247 = zext nneg i32 %244 to i64
  br label %248

248:                                              ; preds = %261, %246
  %249 = phi i64 [ 0, %246 ], [ %262, %261 ]
  %250 = getelementptr inbounds nuw %struct.region, ptr %25, i64 %249
  %251 = load atomic i64, ptr %250 acquire, align 128
  %252 = lshr i64 %251, 32
  %253 = getelementptr inbounds nuw i64, ptr %8, i64 %249
  %254 = load i64, ptr %253, align 8
  %255 = icmp eq i64 %252, %254
  br i1 %255, label %261, label %256

256:                                              ; preds = %248
  %257 = and i64 %251, 65535
  %258 = lshr i64 %251, 16
  %259 = and i64 %258, 65535
  %260 = icmp samesign ult i64 %257, %259
  br i1 %260, label %266, label %261

261:                                              ; preds = %256, %248
  %262 = add nuw nsw i64 %249, 1
  %263 = icmp eq i64 %262, %247
  br i1 %263, label %264, label %248

264:                                              ; preds = %261, %237, %243
  %265 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %20, i32 noundef 128, i32 noundef %238, ptr noundef null, ptr noundef null, i32 noundef 0) #7
  br label %266

266:                                              ; preds = %256, %264
  %267 = atomicrmw sub ptr %19, i32 1 seq_cst, align 128
  br label %26
}

; Function Attrs: nounwind
declare i32 @pthread_attr_destroy(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i64 @syscall(i64 noundef, ...) local_unnamed_addr #3

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


