
%struct.tw_caller = type { i32, i32, ptr }
%struct.tw_loop = type { i64, i64, ptr, ptr }
%struct.timespec = type { i64, i64 }
%struct.__sigset_t = type { [16 x i64] }
%union.pthread_attr_t = type { i64, [48 x i8] }
%struct.steps = type { i64, [120 x i8] }
%struct.tw_extent = type { i64, i64, i64 }
%struct.tw_size = type { i64, i64, i64, i64, i64 }
%struct.suppression = type { %struct.array, %struct.array, float, float, i64, i64, i64, ptr, ptr, ptr, i64 }
%struct.array = type { ptr, i64, ptr, ptr }
%struct.item = type { i64, i64 }
%struct.box = type { float, float, float, float, float }
%struct.top = type { %struct.array, %struct.array, i64, i64, i64, ptr }
%struct.cpu_set_t = type { [16 x i64] }
%struct.worker = type { ptr, [16 x i64], i64, i32, i32 }
%struct.region = type { i64, ptr, ptr, i64, i64, i32, i32, i64, i32, [68 x i8], i32, [124 x i8], i32, i32, [120 x i8], [256 x %struct.steps] }

@cores_limit = internal unnamed_addr global i32 0, align 4
@key = internal unnamed_addr global i32 0, align 4
@the_pool = internal unnamed_addr global ptr null, align 8
@__const.tw_parallel.unknown = private unnamed_addr constant %struct.tw_caller { i32 256, i32 0, ptr null }, align 8
@tw_suppress.loop = internal global %struct.tw_loop zeroinitializer, align 8
@tw_top_k.loop = internal global %struct.tw_loop zeroinitializer, align 8
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
  %9 = tail call ptr @pthread_getspecific(i32 noundef %8) #9
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
  %16 = tail call i32 @pthread_setspecific(i32 noundef %15, ptr noundef nonnull %0) #9
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
  %5 = tail call ptr @mmap(ptr noundef null, i64 noundef 531328, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) #9
  %6 = icmp eq ptr %5, inttoptr (i64 -1 to ptr)
  br i1 %6, label %75, label %7

7:                                                ; preds = %4
  %8 = tail call i32 @madvise(ptr noundef %5, i64 noundef 531328, i32 noundef 18) #9
  %9 = icmp ne i32 %8, 0
  %10 = zext i1 %9 to i32
  call void @llvm.lifetime.start.p0(ptr nonnull %1) #9
  %11 = call i32 @pthread_key_create(ptr noundef nonnull %1, ptr noundef null) #9
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %15, label %13

13:                                               ; preds = %7
  %14 = call i32 @munmap(ptr noundef %5, i64 noundef 531328) #9
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #9
  br label %75

15:                                               ; preds = %7
  %16 = atomicrmw xchg ptr @new_pool.claimed, i32 1 seq_cst, align 4
  %17 = icmp eq i32 %16, 0
  %18 = load i32, ptr %1, align 4
  br i1 %17, label %29, label %19

19:                                               ; preds = %15
  %20 = call i32 @pthread_key_delete(i32 noundef %18) #9
  %21 = call i32 @munmap(ptr noundef %5, i64 noundef 531328) #9
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
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #9
  br label %32

29:                                               ; preds = %15
  store i32 %18, ptr @key, align 4
  store i32 %10, ptr @inherited, align 4
  %30 = ptrtoint ptr %5 to i64
  store atomic i64 %30, ptr @the_pool seq_cst, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #9
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
  %45 = call i32 @getpid() #9
  %46 = icmp eq i32 %42, %45
  br i1 %46, label %48, label %47

47:                                               ; preds = %44
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 128 dereferenceable(531328) %38, i8 0, i64 531328, i1 false)
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
  %56 = call i32 @sched_getaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %55) #9
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %58, label %60

58:                                               ; preds = %54
  %59 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %55) #9
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
  %68 = call i32 @getpid() #9
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
  %7 = tail call ptr @pthread_getspecific(i32 noundef %6) #9
  %8 = icmp eq ptr %7, %0
  br i1 %8, label %9, label %19

9:                                                ; preds = %5
  %10 = load i32, ptr @key, align 4
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %12 = load ptr, ptr %11, align 8
  %13 = tail call i32 @pthread_setspecific(i32 noundef %10, ptr noundef %12) #9
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
  %11 = alloca %struct.timespec, align 8
  %12 = alloca %struct.timespec, align 8
  %13 = alloca %struct.__sigset_t, align 8
  %14 = alloca %struct.__sigset_t, align 8
  %15 = alloca %union.pthread_attr_t, align 8
  %16 = alloca i64, align 8
  %17 = alloca %struct.timespec, align 8
  %18 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %18) #9
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %18, ptr noundef nonnull align 8 dereferenceable(16) @__const.tw_parallel.unknown, i64 16, i1 false)
  %19 = tail call fastcc ptr @ready_pool()
  %20 = icmp eq ptr %19, null
  br i1 %20, label %48, label %21

21:                                               ; preds = %6
  %22 = load i32, ptr @key, align 4
  %23 = tail call ptr @pthread_getspecific(i32 noundef %22) #9
  %24 = icmp eq ptr %23, null
  br i1 %24, label %25, label %28

25:                                               ; preds = %21
  %26 = load i32, ptr @key, align 4
  %27 = call i32 @pthread_setspecific(i32 noundef %26, ptr noundef nonnull %18) #9
  br label %28

28:                                               ; preds = %25, %21
  %29 = icmp ne ptr %23, null
  %30 = select i1 %29, ptr %23, ptr %18
  %31 = load i32, ptr %30, align 8
  %32 = call i32 @llvm.smin.i32(i32 %4, i32 %31)
  %33 = sext i32 %32 to i64
  %34 = add i64 %2, -1
  %35 = add i64 %34, %3
  %36 = sdiv i64 %35, %3
  %37 = call i64 @llvm.smin.i64(i64 %36, i64 %33)
  %38 = trunc i64 %37 to i32
  %39 = getelementptr inbounds nuw i8, ptr %19, i64 4
  %40 = load i32, ptr %39, align 4
  %41 = call i32 @llvm.smin.i32(i32 %40, i32 %38)
  %42 = icmp slt i32 %41, 2
  br i1 %42, label %48, label %43

43:                                               ; preds = %28
  %44 = select i1 %29, ptr %23, ptr %18
  %45 = getelementptr inbounds nuw i8, ptr %44, i64 4
  %46 = load i32, ptr %45, align 4
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %54, label %48

48:                                               ; preds = %6, %43, %28
  %49 = phi i1 [ %29, %28 ], [ %29, %43 ], [ false, %6 ]
  %50 = phi ptr [ %23, %28 ], [ %23, %43 ], [ null, %6 ]
  %51 = select i1 %49, ptr %50, ptr %18
  %52 = getelementptr inbounds nuw i8, ptr %51, i64 4
  %53 = load i32, ptr %52, align 4
  store i32 1, ptr %52, align 4
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #9
  store i32 %53, ptr %52, align 4
  br label %654

54:                                               ; preds = %43
  call void @llvm.lifetime.start.p0(ptr nonnull %17) #9
  %55 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %17) #9
  %56 = load i64, ptr %17, align 8
  %57 = mul nsw i64 %56, 1000000000
  %58 = getelementptr inbounds nuw i8, ptr %17, i64 8
  %59 = load i64, ptr %58, align 8
  %60 = add nsw i64 %57, %59
  call void @llvm.lifetime.end.p0(ptr nonnull %17) #9
  %61 = icmp eq ptr %5, null
  br i1 %61, label %64, label %62

62:                                               ; preds = %54
  %63 = load atomic i64, ptr %5 monotonic, align 8
  br label %64

64:                                               ; preds = %62, %54
  %65 = phi i64 [ %63, %62 ], [ 0, %54 ]
  %66 = getelementptr inbounds nuw i8, ptr %19, i64 160
  %67 = load atomic i64, ptr %66 monotonic, align 32
  %68 = getelementptr inbounds nuw i8, ptr %19, i64 256
  %69 = load atomic i32, ptr %68 monotonic, align 128
  %70 = load i32, ptr %39, align 4
  %71 = icmp slt i32 %69, %70
  br i1 %71, label %72, label %155

72:                                               ; preds = %64
  %73 = icmp sgt i64 %65, 0
  %74 = shl nsw i64 %67, 2
  %75 = icmp slt i64 %65, %74
  %76 = select i1 %73, i1 %75, i1 false
  br i1 %76, label %77, label %81

77:                                               ; preds = %72
  %78 = load atomic i64, ptr %66 monotonic, align 8
  %79 = sdiv i64 %78, -256
  %80 = add i64 %79, %78
  store atomic i64 %80, ptr %66 monotonic, align 8
  br label %155

81:                                               ; preds = %72
  %82 = getelementptr inbounds nuw i8, ptr %19, i64 144
  %83 = load atomic i32, ptr %82 monotonic, align 16
  %84 = add nsw i32 %41, -1
  %85 = call i32 @llvm.smin.i32(i32 %84, i32 %83)
  %86 = getelementptr inbounds nuw i8, ptr %19, i64 140
  %87 = load atomic i32, ptr %86 monotonic, align 4
  %88 = icmp slt i32 %87, %85
  br i1 %88, label %89, label %115

89:                                               ; preds = %81
  %90 = getelementptr inbounds nuw i8, ptr %19, i64 148
  %91 = atomicrmw xchg ptr %90, i32 1 seq_cst, align 4
  %92 = icmp eq i32 %91, 0
  br i1 %92, label %93, label %115

93:                                               ; preds = %89
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #9
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #9
  call void @llvm.lifetime.start.p0(ptr nonnull %15) #9
  %94 = call i32 @sigfillset(ptr noundef nonnull %13) #9
  %95 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %13, ptr noundef nonnull %14) #9
  %96 = call i32 @pthread_attr_init(ptr noundef nonnull %15) #9
  %97 = call i32 @pthread_attr_setdetachstate(ptr noundef nonnull %15, i32 noundef 1) #9
  call void @llvm.lifetime.start.p0(ptr nonnull %16) #9
  %98 = load atomic i32, ptr %86 seq_cst, align 4
  %99 = icmp slt i32 %98, %85
  br i1 %99, label %100, label %112

100:                                              ; preds = %93, %108
  %101 = phi i32 [ %109, %108 ], [ %85, %93 ]
  %102 = call i32 @pthread_create(ptr noundef nonnull %16, ptr noundef nonnull %15, ptr noundef nonnull @worker, ptr noundef nonnull %19) #9
  %103 = icmp eq i32 %102, 0
  br i1 %103, label %104, label %106

104:                                              ; preds = %100
  %105 = atomicrmw add ptr %86, i32 1 seq_cst, align 4
  br label %108

106:                                              ; preds = %100
  %107 = load atomic i32, ptr %86 seq_cst, align 4
  store atomic i32 %107, ptr %82 seq_cst, align 16
  br label %108

108:                                              ; preds = %106, %104
  %109 = phi i32 [ %101, %104 ], [ %107, %106 ]
  %110 = load atomic i32, ptr %86 seq_cst, align 4
  %111 = icmp slt i32 %110, %109
  br i1 %111, label %100, label %112

112:                                              ; preds = %108, %93
  %113 = call i32 @pthread_attr_destroy(ptr noundef nonnull %15) #9
  %114 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %14, ptr noundef null) #9
  store atomic i32 0, ptr %90 seq_cst, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %16) #9
  call void @llvm.lifetime.end.p0(ptr nonnull %15) #9
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #9
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #9
  br label %115

115:                                              ; preds = %112, %89, %81
  %116 = getelementptr inbounds nuw i8, ptr %19, i64 512
  %117 = load atomic i32, ptr %116 monotonic, align 128
  %118 = load atomic i32, ptr %86 monotonic, align 4
  %119 = sub nsw i32 %118, %117
  %120 = sub nsw i32 %85, %119
  %121 = icmp sgt i32 %120, 0
  %122 = icmp sgt i32 %117, 0
  %123 = and i1 %122, %121
  br i1 %123, label %124, label %152

124:                                              ; preds = %115
  %125 = getelementptr inbounds nuw i8, ptr %19, i64 168
  %126 = load atomic i64, ptr %125 monotonic, align 8
  %127 = shl nsw i64 %126, 1
  %128 = icmp eq i64 %65, 0
  %129 = icmp sgt i64 %65, %127
  %130 = select i1 %128, i1 true, i1 %129
  br i1 %130, label %149, label %131

131:                                              ; preds = %124
  %132 = load atomic i64, ptr %125 monotonic, align 8
  %133 = sdiv i64 %132, -256
  %134 = add i64 %133, %132
  store atomic i64 %134, ptr %125 monotonic, align 8
  %135 = getelementptr inbounds nuw i8, ptr %19, i64 184
  %136 = load atomic i64, ptr %135 monotonic, align 8
  %137 = sub nsw i64 %60, %136
  %138 = icmp sgt i64 %137, 100000
  br i1 %138, label %142, label %139

139:                                              ; preds = %131
  %140 = getelementptr inbounds nuw i8, ptr %19, i64 176
  %141 = load atomic i64, ptr %140 monotonic, align 16
  br label %142

142:                                              ; preds = %139, %131
  %143 = phi i64 [ %141, %139 ], [ 0, %131 ]
  %144 = add nsw i64 %143, %65
  %145 = icmp sgt i64 %144, %127
  %146 = getelementptr inbounds nuw i8, ptr %19, i64 176
  %147 = select i1 %145, i64 0, i64 %144
  store atomic i64 %147, ptr %146 monotonic, align 16
  %148 = add nsw i64 %65, %60
  store atomic i64 %148, ptr %135 monotonic, align 8
  br i1 %145, label %149, label %152

149:                                              ; preds = %142, %124
  %150 = icmp samesign ult i32 %120, 2
  %151 = select i1 %150, i32 1, i32 2
  br label %155

152:                                              ; preds = %142, %115
  %153 = icmp slt i32 %119, 1
  %154 = sext i1 %153 to i32
  br label %155

155:                                              ; preds = %152, %149, %77, %64
  %156 = phi i32 [ -1, %64 ], [ -1, %77 ], [ %151, %149 ], [ %154, %152 ]
  br i1 %61, label %162, label %157

157:                                              ; preds = %155
  %158 = load atomic i64, ptr %5 monotonic, align 8
  %159 = icmp sgt i32 %156, -1
  %160 = icmp sgt i64 %158, 0
  %161 = select i1 %159, i1 %160, i1 false
  br i1 %161, label %165, label %162

162:                                              ; preds = %157, %155
  %163 = phi i64 [ %158, %157 ], [ 0, %155 ]
  %164 = icmp slt i32 %156, 0
  br i1 %164, label %315, label %172

165:                                              ; preds = %157
  %166 = load atomic i32, ptr %68 monotonic, align 128
  %167 = icmp eq i32 %166, 1
  br i1 %167, label %168, label %172

168:                                              ; preds = %165
  %169 = getelementptr inbounds nuw i8, ptr %19, i64 796
  %170 = load atomic i32, ptr %169 monotonic, align 4
  %171 = icmp eq i32 %170, 0
  br i1 %171, label %172, label %315

172:                                              ; preds = %168, %165, %162
  %173 = phi i64 [ %158, %168 ], [ %163, %162 ], [ %158, %165 ]
  %174 = phi i1 [ true, %168 ], [ false, %162 ], [ false, %165 ]
  %175 = getelementptr inbounds nuw i8, ptr %19, i64 1152
  %176 = load atomic i32, ptr %175 monotonic, align 128
  %177 = icmp eq i32 %176, 0
  br i1 %177, label %178, label %195

178:                                              ; preds = %172
  %179 = getelementptr inbounds nuw i8, ptr %19, i64 896
  %180 = atomicrmw xchg ptr %175, i32 1 acquire, align 128
  %181 = icmp eq i32 %180, 0
  br i1 %181, label %182, label %195

182:                                              ; preds = %311, %303, %295, %287, %279, %271, %263, %255, %247, %239, %231, %223, %215, %207, %199, %178
  %183 = phi i32 [ 0, %178 ], [ 1, %199 ], [ 2, %207 ], [ 3, %215 ], [ 4, %223 ], [ 5, %231 ], [ 6, %239 ], [ 7, %247 ], [ 8, %255 ], [ 9, %263 ], [ 10, %271 ], [ 11, %279 ], [ 12, %287 ], [ 13, %295 ], [ 14, %303 ], [ 15, %311 ]
  %184 = phi ptr [ %179, %178 ], [ %200, %199 ], [ %208, %207 ], [ %216, %215 ], [ %224, %223 ], [ %232, %231 ], [ %240, %239 ], [ %248, %247 ], [ %256, %255 ], [ %264, %263 ], [ %272, %271 ], [ %280, %279 ], [ %288, %287 ], [ %296, %295 ], [ %304, %303 ], [ %312, %311 ]
  %185 = getelementptr inbounds nuw i8, ptr %19, i64 152
  %186 = load atomic i32, ptr %185 seq_cst, align 8
  %187 = add nuw nsw i32 %183, 1
  br label %188

188:                                              ; preds = %191, %182
  %189 = phi i32 [ %186, %182 ], [ %194, %191 ]
  %190 = icmp sgt i32 %189, %183
  br i1 %190, label %326, label %191

191:                                              ; preds = %188
  %192 = cmpxchg weak ptr %185, i32 %189, i32 %187 seq_cst seq_cst, align 8
  %193 = extractvalue { i32, i1 } %192, 1
  %194 = extractvalue { i32, i1 } %192, 0
  br i1 %193, label %326, label %188

195:                                              ; preds = %178, %172
  %196 = getelementptr inbounds nuw i8, ptr %19, i64 34304
  %197 = load atomic i32, ptr %196 monotonic, align 128
  %198 = icmp eq i32 %197, 0
  br i1 %198, label %199, label %203

199:                                              ; preds = %195
  %200 = getelementptr inbounds nuw i8, ptr %19, i64 34048
  %201 = atomicrmw xchg ptr %196, i32 1 acquire, align 128
  %202 = icmp eq i32 %201, 0
  br i1 %202, label %182, label %203

203:                                              ; preds = %199, %195
  %204 = getelementptr inbounds nuw i8, ptr %19, i64 67456
  %205 = load atomic i32, ptr %204 monotonic, align 128
  %206 = icmp eq i32 %205, 0
  br i1 %206, label %207, label %211

207:                                              ; preds = %203
  %208 = getelementptr inbounds nuw i8, ptr %19, i64 67200
  %209 = atomicrmw xchg ptr %204, i32 1 acquire, align 128
  %210 = icmp eq i32 %209, 0
  br i1 %210, label %182, label %211

211:                                              ; preds = %207, %203
  %212 = getelementptr inbounds nuw i8, ptr %19, i64 100608
  %213 = load atomic i32, ptr %212 monotonic, align 128
  %214 = icmp eq i32 %213, 0
  br i1 %214, label %215, label %219

215:                                              ; preds = %211
  %216 = getelementptr inbounds nuw i8, ptr %19, i64 100352
  %217 = atomicrmw xchg ptr %212, i32 1 acquire, align 128
  %218 = icmp eq i32 %217, 0
  br i1 %218, label %182, label %219

219:                                              ; preds = %215, %211
  %220 = getelementptr inbounds nuw i8, ptr %19, i64 133760
  %221 = load atomic i32, ptr %220 monotonic, align 128
  %222 = icmp eq i32 %221, 0
  br i1 %222, label %223, label %227

223:                                              ; preds = %219
  %224 = getelementptr inbounds nuw i8, ptr %19, i64 133504
  %225 = atomicrmw xchg ptr %220, i32 1 acquire, align 128
  %226 = icmp eq i32 %225, 0
  br i1 %226, label %182, label %227

227:                                              ; preds = %223, %219
  %228 = getelementptr inbounds nuw i8, ptr %19, i64 166912
  %229 = load atomic i32, ptr %228 monotonic, align 128
  %230 = icmp eq i32 %229, 0
  br i1 %230, label %231, label %235

231:                                              ; preds = %227
  %232 = getelementptr inbounds nuw i8, ptr %19, i64 166656
  %233 = atomicrmw xchg ptr %228, i32 1 acquire, align 128
  %234 = icmp eq i32 %233, 0
  br i1 %234, label %182, label %235

235:                                              ; preds = %231, %227
  %236 = getelementptr inbounds nuw i8, ptr %19, i64 200064
  %237 = load atomic i32, ptr %236 monotonic, align 128
  %238 = icmp eq i32 %237, 0
  br i1 %238, label %239, label %243

239:                                              ; preds = %235
  %240 = getelementptr inbounds nuw i8, ptr %19, i64 199808
  %241 = atomicrmw xchg ptr %236, i32 1 acquire, align 128
  %242 = icmp eq i32 %241, 0
  br i1 %242, label %182, label %243

243:                                              ; preds = %239, %235
  %244 = getelementptr inbounds nuw i8, ptr %19, i64 233216
  %245 = load atomic i32, ptr %244 monotonic, align 128
  %246 = icmp eq i32 %245, 0
  br i1 %246, label %247, label %251

247:                                              ; preds = %243
  %248 = getelementptr inbounds nuw i8, ptr %19, i64 232960
  %249 = atomicrmw xchg ptr %244, i32 1 acquire, align 128
  %250 = icmp eq i32 %249, 0
  br i1 %250, label %182, label %251

251:                                              ; preds = %247, %243
  %252 = getelementptr inbounds nuw i8, ptr %19, i64 266368
  %253 = load atomic i32, ptr %252 monotonic, align 128
  %254 = icmp eq i32 %253, 0
  br i1 %254, label %255, label %259

255:                                              ; preds = %251
  %256 = getelementptr inbounds nuw i8, ptr %19, i64 266112
  %257 = atomicrmw xchg ptr %252, i32 1 acquire, align 128
  %258 = icmp eq i32 %257, 0
  br i1 %258, label %182, label %259

259:                                              ; preds = %255, %251
  %260 = getelementptr inbounds nuw i8, ptr %19, i64 299520
  %261 = load atomic i32, ptr %260 monotonic, align 128
  %262 = icmp eq i32 %261, 0
  br i1 %262, label %263, label %267

263:                                              ; preds = %259
  %264 = getelementptr inbounds nuw i8, ptr %19, i64 299264
  %265 = atomicrmw xchg ptr %260, i32 1 acquire, align 128
  %266 = icmp eq i32 %265, 0
  br i1 %266, label %182, label %267

267:                                              ; preds = %263, %259
  %268 = getelementptr inbounds nuw i8, ptr %19, i64 332672
  %269 = load atomic i32, ptr %268 monotonic, align 128
  %270 = icmp eq i32 %269, 0
  br i1 %270, label %271, label %275

271:                                              ; preds = %267
  %272 = getelementptr inbounds nuw i8, ptr %19, i64 332416
  %273 = atomicrmw xchg ptr %268, i32 1 acquire, align 128
  %274 = icmp eq i32 %273, 0
  br i1 %274, label %182, label %275

275:                                              ; preds = %271, %267
  %276 = getelementptr inbounds nuw i8, ptr %19, i64 365824
  %277 = load atomic i32, ptr %276 monotonic, align 128
  %278 = icmp eq i32 %277, 0
  br i1 %278, label %279, label %283

279:                                              ; preds = %275
  %280 = getelementptr inbounds nuw i8, ptr %19, i64 365568
  %281 = atomicrmw xchg ptr %276, i32 1 acquire, align 128
  %282 = icmp eq i32 %281, 0
  br i1 %282, label %182, label %283

283:                                              ; preds = %279, %275
  %284 = getelementptr inbounds nuw i8, ptr %19, i64 398976
  %285 = load atomic i32, ptr %284 monotonic, align 128
  %286 = icmp eq i32 %285, 0
  br i1 %286, label %287, label %291

287:                                              ; preds = %283
  %288 = getelementptr inbounds nuw i8, ptr %19, i64 398720
  %289 = atomicrmw xchg ptr %284, i32 1 acquire, align 128
  %290 = icmp eq i32 %289, 0
  br i1 %290, label %182, label %291

291:                                              ; preds = %287, %283
  %292 = getelementptr inbounds nuw i8, ptr %19, i64 432128
  %293 = load atomic i32, ptr %292 monotonic, align 128
  %294 = icmp eq i32 %293, 0
  br i1 %294, label %295, label %299

295:                                              ; preds = %291
  %296 = getelementptr inbounds nuw i8, ptr %19, i64 431872
  %297 = atomicrmw xchg ptr %292, i32 1 acquire, align 128
  %298 = icmp eq i32 %297, 0
  br i1 %298, label %182, label %299

299:                                              ; preds = %295, %291
  %300 = getelementptr inbounds nuw i8, ptr %19, i64 465280
  %301 = load atomic i32, ptr %300 monotonic, align 128
  %302 = icmp eq i32 %301, 0
  br i1 %302, label %303, label %307

303:                                              ; preds = %299
  %304 = getelementptr inbounds nuw i8, ptr %19, i64 465024
  %305 = atomicrmw xchg ptr %300, i32 1 acquire, align 128
  %306 = icmp eq i32 %305, 0
  br i1 %306, label %182, label %307

307:                                              ; preds = %303, %299
  %308 = getelementptr inbounds nuw i8, ptr %19, i64 498432
  %309 = load atomic i32, ptr %308 monotonic, align 128
  %310 = icmp eq i32 %309, 0
  br i1 %310, label %311, label %315

311:                                              ; preds = %307
  %312 = getelementptr inbounds nuw i8, ptr %19, i64 498176
  %313 = atomicrmw xchg ptr %308, i32 1 acquire, align 128
  %314 = icmp eq i32 %313, 0
  br i1 %314, label %182, label %315

315:                                              ; preds = %311, %307, %168, %162
  %316 = phi i64 [ %173, %311 ], [ %173, %307 ], [ %158, %168 ], [ %163, %162 ]
  %317 = phi i1 [ %174, %311 ], [ %174, %307 ], [ true, %168 ], [ false, %162 ]
  %318 = load i32, ptr %45, align 4
  store i32 1, ptr %45, align 4
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #9
  store i32 %318, ptr %45, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #9
  %319 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %12) #9
  %320 = load i64, ptr %12, align 8
  %321 = mul nsw i64 %320, 1000000000
  %322 = getelementptr inbounds nuw i8, ptr %12, i64 8
  %323 = load i64, ptr %322, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #9
  %324 = sub i64 %323, %60
  %325 = add i64 %324, %321
  br i1 %317, label %564, label %639

326:                                              ; preds = %191, %188
  br i1 %61, label %345, label %327

327:                                              ; preds = %326
  %328 = getelementptr inbounds nuw i8, ptr %5, i64 16
  %329 = load atomic i64, ptr %328 monotonic, align 8
  %330 = icmp eq i64 %329, 0
  br i1 %330, label %345, label %331

331:                                              ; preds = %327
  %332 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %333 = load atomic i64, ptr %332 monotonic, align 8
  %334 = icmp eq i64 %329, %333
  br i1 %334, label %335, label %345

335:                                              ; preds = %331
  %336 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %337 = load atomic i64, ptr %336 monotonic, align 8
  %338 = load atomic i64, ptr %5 monotonic, align 8
  %339 = icmp sgt i64 %337, 0
  br i1 %339, label %340, label %345

340:                                              ; preds = %335
  %341 = sub nsw i64 %60, %337
  %342 = sdiv i64 %338, 4
  %343 = icmp slt i64 %341, %342
  %344 = zext i1 %343 to i32
  br label %345

345:                                              ; preds = %340, %335, %331, %327, %326
  %346 = phi i32 [ 0, %327 ], [ 0, %331 ], [ 0, %335 ], [ %344, %340 ], [ 0, %326 ]
  %347 = getelementptr inbounds nuw i8, ptr %184, i64 260
  %348 = load i32, ptr %347, align 4
  %349 = add i32 %348, 1
  store i32 %349, ptr %347, align 4
  %350 = icmp eq i32 %349, 0
  br i1 %350, label %351, label %352

351:                                              ; preds = %345
  store i32 1, ptr %347, align 4
  br label %355

352:                                              ; preds = %345
  %353 = zext i32 %349 to i64
  %354 = shl nuw i64 %353, 32
  br label %355

355:                                              ; preds = %352, %351
  %356 = phi i64 [ 4294967296, %351 ], [ %354, %352 ]
  %357 = getelementptr inbounds nuw i8, ptr %184, i64 8
  store ptr %0, ptr %357, align 8
  %358 = getelementptr inbounds nuw i8, ptr %184, i64 16
  store ptr %1, ptr %358, align 16
  %359 = getelementptr inbounds nuw i8, ptr %184, i64 24
  store i64 %2, ptr %359, align 8
  %360 = getelementptr inbounds nuw i8, ptr %184, i64 32
  store i64 %3, ptr %360, align 32
  %361 = getelementptr inbounds nuw i8, ptr %184, i64 40
  store i32 0, ptr %361, align 8
  %362 = getelementptr inbounds nuw i8, ptr %184, i64 44
  store i32 %346, ptr %362, align 4
  %363 = getelementptr inbounds nuw i8, ptr %184, i64 48
  store atomic i64 %60, ptr %363 monotonic, align 16
  %364 = getelementptr inbounds nuw i8, ptr %184, i64 56
  %365 = call i32 @sched_getcpu() #9
  store atomic i32 %365, ptr %364 monotonic, align 8
  %366 = getelementptr inbounds nuw i8, ptr %184, i64 128
  store atomic i32 0, ptr %366 monotonic, align 128
  %367 = zext nneg i32 %41 to i128
  %368 = getelementptr inbounds nuw i8, ptr %184, i64 384
  %369 = zext nneg i32 %41 to i64
  %370 = load i64, ptr %359, align 8
  %371 = load i32, ptr %361, align 8
  %372 = sext i64 %370 to i128
  br label %373

373:                                              ; preds = %373, %355
  %374 = phi i32 [ %371, %355 ], [ %387, %373 ]
  %375 = phi i64 [ 0, %355 ], [ %377, %373 ]
  %376 = phi i64 [ 0, %355 ], [ %381, %373 ]
  %377 = add nuw nsw i64 %375, 1
  %378 = zext nneg i64 %377 to i128
  %379 = mul nsw i128 %378, %372
  %380 = sdiv i128 %379, %367
  %381 = trunc i128 %380 to i64
  %382 = xor i64 %376, -1
  %383 = add i64 %3, %382
  %384 = add i64 %383, %381
  %385 = sdiv i64 %384, %3
  %386 = trunc i64 %385 to i32
  %387 = add i32 %374, %386
  store i32 %387, ptr %361, align 8
  %388 = getelementptr inbounds nuw %struct.steps, ptr %368, i64 %375
  %389 = and i64 %385, 4294967295
  %390 = or disjoint i64 %389, %356
  store atomic i64 %390, ptr %388 release, align 128
  %391 = icmp eq i64 %377, %369
  br i1 %391, label %392, label %373

392:                                              ; preds = %373
  %393 = shl i32 %41, 16
  %394 = or disjoint i32 %393, 1
  %395 = zext i32 %394 to i64
  %396 = or disjoint i64 %356, %395
  store atomic i64 %396, ptr %184 release, align 128
  %397 = load i32, ptr %347, align 4
  %398 = load atomic i64, ptr %184 monotonic, align 128
  %399 = trunc i64 %398 to i32
  %400 = lshr i32 %399, 16
  %401 = icmp sgt i32 %156, 0
  br i1 %401, label %402, label %414

402:                                              ; preds = %392
  %403 = getelementptr inbounds nuw i8, ptr %19, i64 644
  %404 = call i32 @sched_getcpu() #9
  store atomic i32 %404, ptr %403 monotonic, align 4
  %405 = getelementptr inbounds nuw i8, ptr %19, i64 640
  %406 = atomicrmw add ptr %405, i32 1 seq_cst, align 128
  %407 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %405, i32 noundef 129, i32 noundef range(i32 1, 3) %156, ptr noundef null, ptr noundef null, i32 noundef 0) #9
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #9
  %408 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %11) #9
  %409 = load i64, ptr %11, align 8
  %410 = mul nsw i64 %409, 1000000000
  %411 = getelementptr inbounds nuw i8, ptr %11, i64 8
  %412 = load i64, ptr %411, align 8
  %413 = add nsw i64 %410, %412
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #9
  br label %414

414:                                              ; preds = %402, %392
  %415 = phi i64 [ %413, %402 ], [ %60, %392 ]
  store i32 1, ptr %45, align 4
  %416 = icmp eq i32 %400, 0
  br i1 %416, label %417, label %418

417:                                              ; preds = %414
  store i32 0, ptr %45, align 4
  br label %496

418:                                              ; preds = %414
  %419 = zext i32 %397 to i64
  %420 = zext nneg i32 %400 to i128
  %421 = zext nneg i32 %400 to i64
  br label %422

422:                                              ; preds = %480, %418
  %423 = phi i64 [ %428, %480 ], [ 0, %418 ]
  %424 = phi i32 [ %434, %480 ], [ 0, %418 ]
  %425 = getelementptr inbounds nuw %struct.steps, ptr %368, i64 %423
  %426 = load atomic i64, ptr %425 acquire, align 8
  %427 = zext nneg i64 %423 to i128
  %428 = add nuw nsw i64 %423, 1
  %429 = zext nneg i64 %428 to i128
  br label %430

430:                                              ; preds = %458, %422
  %431 = phi i64 [ %459, %458 ], [ -1, %422 ]
  %432 = phi i64 [ %460, %458 ], [ 0, %422 ]
  %433 = phi i64 [ %479, %458 ], [ %426, %422 ]
  %434 = phi i32 [ %478, %458 ], [ %424, %422 ]
  br label %435

435:                                              ; preds = %442, %430
  %436 = phi i64 [ %446, %442 ], [ %433, %430 ]
  %437 = lshr i64 %436, 32
  %438 = icmp ne i64 %437, %419
  %439 = and i64 %436, 4294967295
  %440 = icmp eq i64 %439, 0
  %441 = or i1 %438, %440
  br i1 %441, label %480, label %442

442:                                              ; preds = %435
  %443 = add i64 %436, -1
  %444 = cmpxchg weak ptr %425, i64 %436, i64 %443 acq_rel acquire, align 8
  %445 = extractvalue { i64, i1 } %444, 1
  %446 = extractvalue { i64, i1 } %444, 0
  br i1 %445, label %447, label %435

447:                                              ; preds = %442
  %448 = icmp slt i64 %431, 0
  br i1 %448, label %449, label %458

449:                                              ; preds = %447
  %450 = load i64, ptr %359, align 8
  %451 = sext i64 %450 to i128
  %452 = mul nsw i128 %451, %427
  %453 = sdiv i128 %452, %420
  %454 = trunc i128 %453 to i64
  %455 = mul nsw i128 %451, %429
  %456 = sdiv i128 %455, %420
  %457 = trunc i128 %456 to i64
  br label %458

458:                                              ; preds = %449, %447
  %459 = phi i64 [ %457, %449 ], [ %431, %447 ]
  %460 = phi i64 [ %454, %449 ], [ %432, %447 ]
  %461 = load i64, ptr %360, align 32
  %462 = xor i64 %460, -1
  %463 = add i64 %459, %462
  %464 = add i64 %463, %461
  %465 = sdiv i64 %464, %461
  %466 = load i32, ptr %362, align 4
  %467 = icmp eq i32 %466, 0
  %468 = add i64 %436, 4294967295
  %469 = sub i64 %465, %436
  %470 = select i1 %467, i64 %469, i64 %468
  %471 = and i64 %470, 4294967295
  %472 = mul nsw i64 %471, %461
  %473 = add nsw i64 %472, %460
  %474 = add nsw i64 %473, %461
  %475 = call i64 @llvm.smin.i64(i64 %474, i64 %459)
  %476 = load ptr, ptr %357, align 8
  %477 = load ptr, ptr %358, align 16
  call void %476(ptr noundef %477, i64 noundef %473, i64 noundef %475, i64 noundef 0) #9
  %478 = add i32 %434, 1
  %479 = load atomic i64, ptr %425 acquire, align 8
  br label %430

480:                                              ; preds = %435
  %481 = icmp eq i64 %428, %421
  br i1 %481, label %482, label %422

482:                                              ; preds = %480
  store i32 0, ptr %45, align 4
  %483 = icmp eq i32 %434, 0
  br i1 %483, label %496, label %484

484:                                              ; preds = %482
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #9
  %485 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #9
  %486 = load i64, ptr %10, align 8
  %487 = mul nsw i64 %486, 1000000000
  %488 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %489 = load i64, ptr %488, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #9
  %490 = sub i64 %489, %415
  %491 = add i64 %490, %487
  %492 = zext i32 %387 to i64
  %493 = mul nsw i64 %491, %492
  %494 = zext i32 %434 to i64
  %495 = sdiv i64 %493, %494
  br label %496

496:                                              ; preds = %484, %482, %417
  %497 = phi i32 [ %434, %484 ], [ 0, %482 ], [ 0, %417 ]
  %498 = phi i64 [ %495, %484 ], [ 0, %482 ], [ 0, %417 ]
  %499 = load i32, ptr %361, align 8
  %500 = icmp eq i32 %497, %499
  br i1 %500, label %545, label %501

501:                                              ; preds = %496
  %502 = atomicrmw add ptr %366, i32 %497 acq_rel, align 128
  %503 = load atomic i32, ptr %366 acquire, align 128
  %504 = and i32 %503, -1073741825
  %505 = icmp eq i32 %504, %499
  br i1 %505, label %545, label %506

506:                                              ; preds = %501
  %507 = zext i32 %397 to i64
  %508 = getelementptr inbounds nuw i8, ptr %9, i64 8
  br label %509

509:                                              ; preds = %539, %506
  %510 = phi i32 [ %503, %506 ], [ %542, %539 ]
  %511 = phi i64 [ 0, %506 ], [ %540, %539 ]
  %512 = phi i32 [ 1, %506 ], [ %541, %539 ]
  %513 = load atomic i64, ptr %184 monotonic, align 128
  %514 = lshr i64 %513, 32
  %515 = icmp eq i64 %514, %507
  br i1 %515, label %516, label %545

516:                                              ; preds = %509
  call void @llvm.x86.sse2.pause()
  %517 = and i32 %512, 15
  %518 = icmp eq i32 %517, 0
  br i1 %518, label %519, label %539

519:                                              ; preds = %516
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #9
  %520 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %9) #9
  %521 = load i64, ptr %9, align 8
  %522 = mul nsw i64 %521, 1000000000
  %523 = load i64, ptr %508, align 8
  %524 = add nsw i64 %522, %523
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #9
  %525 = icmp eq i64 %511, 0
  %526 = select i1 %525, i64 %524, i64 %511
  %527 = sub nsw i64 %524, %526
  %528 = icmp slt i64 %527, 30000
  br i1 %528, label %539, label %529

529:                                              ; preds = %519
  %530 = and i32 %510, 1073741824
  %531 = icmp eq i32 %530, 0
  br i1 %531, label %532, label %536

532:                                              ; preds = %529
  %533 = or disjoint i32 %510, 1073741824
  %534 = cmpxchg ptr %366, i32 %510, i32 %533 seq_cst seq_cst, align 128
  %535 = extractvalue { i32, i1 } %534, 1
  br i1 %535, label %536, label %539

536:                                              ; preds = %532, %529
  %537 = phi i32 [ %533, %532 ], [ %510, %529 ]
  %538 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %366, i32 noundef 128, i32 noundef %537, ptr noundef null, ptr noundef null, i32 noundef 0) #9
  br label %539

539:                                              ; preds = %536, %532, %519, %516
  %540 = phi i64 [ %526, %519 ], [ %526, %536 ], [ %526, %532 ], [ %511, %516 ]
  %541 = add i32 %512, 1
  %542 = load atomic i32, ptr %366 acquire, align 128
  %543 = and i32 %542, -1073741825
  %544 = icmp eq i32 %543, %499
  br i1 %544, label %545, label %509

545:                                              ; preds = %539, %509, %501, %496
  %546 = getelementptr inbounds nuw i8, ptr %184, i64 256
  store atomic i32 0, ptr %546 release, align 128
  br i1 %61, label %563, label %547

547:                                              ; preds = %545
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #9
  %548 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #9
  %549 = load i64, ptr %8, align 8
  %550 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %551 = load i64, ptr %550, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #9
  %552 = getelementptr inbounds nuw i8, ptr %5, i64 16
  %553 = load atomic i64, ptr %552 monotonic, align 8
  %554 = icmp eq i64 %553, 0
  br i1 %554, label %563, label %555

555:                                              ; preds = %547
  %556 = mul nsw i64 %549, 1000000000
  %557 = add nsw i64 %556, %551
  %558 = getelementptr inbounds nuw i8, ptr %5, i64 24
  store atomic i64 %553, ptr %558 monotonic, align 8
  %559 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %560 = icmp eq i32 %346, 0
  %561 = sub nsw i64 0, %557
  %562 = select i1 %560, i64 %557, i64 %561
  store atomic i64 %562, ptr %559 monotonic, align 8
  br i1 %174, label %564, label %639

563:                                              ; preds = %547, %545
  br i1 %174, label %564, label %639

564:                                              ; preds = %563, %555, %315
  %565 = phi i64 [ %325, %315 ], [ %498, %563 ], [ %498, %555 ]
  %566 = phi i64 [ %316, %315 ], [ %173, %563 ], [ %173, %555 ]
  %567 = getelementptr inbounds nuw i8, ptr %19, i64 768
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #9
  %568 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %7) #9
  %569 = load i64, ptr %7, align 8
  %570 = mul nsw i64 %569, 1000000000
  %571 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %572 = load i64, ptr %571, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #9
  %573 = sub i64 %572, %60
  %574 = add i64 %573, %570
  %575 = getelementptr inbounds nuw i8, ptr %19, i64 776
  %576 = atomicrmw add ptr %575, i64 %566 monotonic, align 8
  %577 = atomicrmw add ptr %567, i64 %574 monotonic, align 8
  %578 = add nsw i64 %577, %574
  %579 = icmp slt i64 %578, 20000000
  br i1 %579, label %639, label %580

580:                                              ; preds = %564
  %581 = cmpxchg ptr %567, i64 %578, i64 0 seq_cst seq_cst, align 8
  %582 = extractvalue { i64, i1 } %581, 1
  br i1 %582, label %583, label %639

583:                                              ; preds = %580
  %584 = atomicrmw xchg ptr %575, i64 0 monotonic, align 8
  %585 = getelementptr inbounds nuw i8, ptr %19, i64 796
  %586 = load atomic i32, ptr %585 monotonic, align 4
  %587 = getelementptr inbounds nuw i8, ptr %19, i64 792
  %588 = load atomic i32, ptr %587 monotonic, align 8
  %589 = getelementptr inbounds nuw i8, ptr %19, i64 784
  %590 = sext i32 %586 to i64
  %591 = getelementptr inbounds i32, ptr %589, i64 %590
  %592 = load atomic i32, ptr %591 monotonic, align 4
  %593 = mul nuw nsw i64 %578, 1000
  %594 = icmp sgt i64 %584, 0
  %595 = select i1 %594, i64 %584, i64 %578
  %596 = sdiv i64 %593, %595
  %597 = trunc i64 %596 to i32
  %598 = icmp eq i32 %592, 0
  br i1 %598, label %602, label %599

599:                                              ; preds = %583
  %600 = add nsw i32 %592, %597
  %601 = sdiv i32 %600, 2
  br label %602

602:                                              ; preds = %599, %583
  %603 = phi i32 [ %601, %599 ], [ %597, %583 ]
  store atomic i32 %603, ptr %591 monotonic, align 4
  %604 = icmp eq i32 %586, %588
  br i1 %604, label %605, label %619

605:                                              ; preds = %602
  %606 = icmp eq i32 %586, 0
  br i1 %606, label %607, label %613

607:                                              ; preds = %605
  %608 = load atomic i32, ptr %589 monotonic, align 8
  %609 = icmp slt i32 %608, 850
  br i1 %609, label %610, label %613

610:                                              ; preds = %607
  %611 = getelementptr inbounds nuw i8, ptr %19, i64 800
  store atomic i32 0, ptr %611 monotonic, align 8
  %612 = getelementptr inbounds nuw i8, ptr %19, i64 804
  store atomic i32 2, ptr %612 monotonic, align 4
  br label %637

613:                                              ; preds = %607, %605
  %614 = getelementptr inbounds nuw i8, ptr %19, i64 804
  %615 = atomicrmw sub ptr %614, i32 1 monotonic, align 4
  %616 = icmp slt i32 %615, 2
  %617 = zext i1 %606 to i32
  %618 = select i1 %616, i32 %617, i32 %586
  br label %637

619:                                              ; preds = %602
  %620 = sext i32 %588 to i64
  %621 = getelementptr inbounds i32, ptr %589, i64 %620
  %622 = load atomic i32, ptr %621 monotonic, align 4
  %623 = icmp eq i32 %588, 0
  %624 = zext i1 %623 to i64
  %625 = getelementptr inbounds nuw i32, ptr %589, i64 %624
  %626 = load atomic i32, ptr %625 monotonic, align 4
  %627 = getelementptr inbounds nuw i8, ptr %19, i64 800
  %628 = load atomic i32, ptr %627 monotonic, align 8
  %629 = shl nsw i32 %628, 1
  %630 = call i32 @llvm.smin.i32(i32 %629, i32 62)
  %631 = add nsw i32 %630, 2
  %632 = icmp slt i32 %626, %622
  %633 = select i1 %632, i32 2, i32 %631
  store atomic i32 %633, ptr %627 monotonic, align 8
  %634 = getelementptr inbounds nuw i8, ptr %19, i64 804
  store atomic i32 %633, ptr %634 monotonic, align 4
  %635 = zext i1 %623 to i32
  %636 = select i1 %632, i32 %635, i32 %588
  store atomic i32 %636, ptr %587 monotonic, align 8
  br label %637

637:                                              ; preds = %619, %613, %610
  %638 = phi i32 [ %636, %619 ], [ %618, %613 ], [ 0, %610 ]
  store atomic i32 %638, ptr %585 monotonic, align 4
  br label %639

639:                                              ; preds = %637, %580, %564, %563, %555, %315
  %640 = phi i64 [ %325, %315 ], [ %498, %555 ], [ %498, %563 ], [ %565, %564 ], [ %565, %580 ], [ %565, %637 ]
  %641 = icmp slt i64 %640, 1
  %642 = or i1 %61, %641
  br i1 %642, label %654, label %643

643:                                              ; preds = %639
  %644 = load atomic i64, ptr %5 monotonic, align 8
  %645 = icmp sgt i64 %644, 0
  br i1 %645, label %646, label %652

646:                                              ; preds = %643
  %647 = sub nsw i64 %640, %644
  %648 = icmp samesign ult i64 %640, %644
  %649 = select i1 %648, i64 2, i64 8
  %650 = sdiv i64 %647, %649
  %651 = add nsw i64 %650, %644
  br label %652

652:                                              ; preds = %646, %643
  %653 = phi i64 [ %651, %646 ], [ %640, %643 ]
  store atomic i64 %653, ptr %5 monotonic, align 8
  br label %654

654:                                              ; preds = %652, %639, %48
  %655 = phi i1 [ %29, %652 ], [ %29, %639 ], [ %49, %48 ]
  %656 = or i1 %20, %655
  br i1 %656, label %660, label %657

657:                                              ; preds = %654
  %658 = load i32, ptr @key, align 4
  %659 = call i32 @pthread_setspecific(i32 noundef %658, ptr noundef null) #9
  br label %660

660:                                              ; preds = %657, %654
  call void @llvm.lifetime.end.p0(ptr nonnull %18) #9
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
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #9
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
  %16 = tail call ptr @pthread_getspecific(i32 noundef %15) #9
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
  %23 = call i32 @pthread_setspecific(i32 noundef %22, ptr noundef nonnull %9) #9
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
  call void %0(ptr noundef %1, ptr noundef %2, ptr noundef %3) #9
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
  %37 = call ptr @pthread_getspecific(i32 noundef %36) #9
  %38 = icmp eq ptr %37, %9
  br i1 %38, label %39, label %48

39:                                               ; preds = %35
  %40 = load i32, ptr @key, align 4
  %41 = load ptr, ptr %12, align 8
  %42 = call i32 @pthread_setspecific(i32 noundef %40, ptr noundef %41) #9
  %43 = load ptr, ptr %12, align 8
  %44 = icmp eq ptr %43, null
  br i1 %44, label %45, label %48

45:                                               ; preds = %39
  %46 = getelementptr inbounds nuw i8, ptr %33, i64 256
  %47 = atomicrmw sub ptr %46, i32 1 monotonic, align 128
  br label %48

48:                                               ; preds = %29, %35, %39, %45
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #9
  ret void
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define void @tw_write_shapes(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef readonly captures(none) %2) local_unnamed_addr #5 {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %5 = load i64, ptr %4, align 8
  %6 = icmp sgt i64 %5, 0
  br i1 %6, label %7, label %9

7:                                                ; preds = %3
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 32
  br label %10

9:                                                ; preds = %10, %3
  ret void

10:                                               ; preds = %7, %10
  %11 = phi i64 [ 0, %7 ], [ %24, %10 ]
  %12 = load ptr, ptr %8, align 8
  %13 = getelementptr inbounds nuw %struct.tw_extent, ptr %12, i64 %11
  %14 = getelementptr inbounds nuw i8, ptr %13, i64 16
  %15 = load i64, ptr %14, align 8
  %16 = getelementptr inbounds i64, ptr %1, i64 %15
  %17 = load i64, ptr %16, align 8
  %18 = load i64, ptr %13, align 8
  %19 = getelementptr inbounds ptr, ptr %2, i64 %18
  %20 = load ptr, ptr %19, align 8
  %21 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %22 = load i64, ptr %21, align 8
  %23 = getelementptr inbounds i64, ptr %20, i64 %22
  store i64 %17, ptr %23, align 8
  %24 = add nuw nsw i64 %11, 1
  %25 = load i64, ptr %4, align 8
  %26 = icmp slt i64 %24, %25
  br i1 %26, label %10, label %9
}

; Function Attrs: nounwind
define i64 @tw_find_sizes(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef %2, ptr noundef readonly captures(none) %3) local_unnamed_addr #1 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %6 = load i64, ptr %5, align 8
  %7 = icmp sgt i64 %6, 0
  br i1 %7, label %8, label %49

8:                                                ; preds = %4
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 24
  br label %10

10:                                               ; preds = %8, %42
  %11 = phi i64 [ 0, %8 ], [ %43, %42 ]
  %12 = load ptr, ptr %9, align 8
  %13 = getelementptr inbounds nuw %struct.tw_size, ptr %12, i64 %11
  %14 = getelementptr inbounds nuw i8, ptr %13, i64 16
  %15 = load i64, ptr %14, align 8
  %16 = icmp slt i64 %15, 0
  br i1 %16, label %17, label %19

17:                                               ; preds = %10
  %18 = getelementptr inbounds nuw i8, ptr %13, i64 8
  br label %25

19:                                               ; preds = %10
  %20 = getelementptr inbounds nuw ptr, ptr %1, i64 %15
  %21 = load ptr, ptr %20, align 8
  %22 = getelementptr inbounds nuw i8, ptr %13, i64 24
  %23 = load i64, ptr %22, align 8
  %24 = getelementptr inbounds i64, ptr %21, i64 %23
  br label %25

25:                                               ; preds = %19, %17
  %26 = phi ptr [ %18, %17 ], [ %24, %19 ]
  %27 = load i64, ptr %26, align 8
  %28 = getelementptr inbounds nuw i8, ptr %13, i64 32
  %29 = load i64, ptr %28, align 8
  %30 = sdiv i64 %27, %29
  %31 = getelementptr inbounds nuw i64, ptr %2, i64 %11
  store i64 %30, ptr %31, align 8
  %32 = load i64, ptr %28, align 8
  %33 = srem i64 %27, %32
  %34 = icmp eq i64 %33, 0
  br i1 %34, label %35, label %46

35:                                               ; preds = %25
  %36 = load i64, ptr %13, align 8
  %37 = icmp slt i64 %30, %36
  br i1 %37, label %46, label %38

38:                                               ; preds = %35
  %39 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %40 = load i64, ptr %39, align 8
  %41 = icmp sgt i64 %30, %40
  br i1 %41, label %46, label %42

42:                                               ; preds = %38
  %43 = add nuw nsw i64 %11, 1
  %44 = load i64, ptr %5, align 8
  %45 = icmp slt i64 %43, %44
  br i1 %45, label %10, label %49

46:                                               ; preds = %38, %35, %25
  %47 = getelementptr inbounds nuw i64, ptr %2, i64 %11
  store i64 %27, ptr %47, align 8
  %48 = add nuw nsw i64 %11, 1
  br label %73

49:                                               ; preds = %42, %4
  %50 = load ptr, ptr %0, align 8
  tail call void %50(ptr noundef %2) #9
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %52 = load i64, ptr %51, align 8
  %53 = icmp sgt i64 %52, 0
  br i1 %53, label %54, label %73

54:                                               ; preds = %49
  %55 = getelementptr inbounds nuw i8, ptr %0, i64 32
  br label %56

56:                                               ; preds = %56, %54
  %57 = phi i64 [ 0, %54 ], [ %70, %56 ]
  %58 = load ptr, ptr %55, align 8
  %59 = getelementptr inbounds nuw %struct.tw_extent, ptr %58, i64 %57
  %60 = getelementptr inbounds nuw i8, ptr %59, i64 16
  %61 = load i64, ptr %60, align 8
  %62 = getelementptr inbounds i64, ptr %2, i64 %61
  %63 = load i64, ptr %62, align 8
  %64 = load i64, ptr %59, align 8
  %65 = getelementptr inbounds ptr, ptr %3, i64 %64
  %66 = load ptr, ptr %65, align 8
  %67 = getelementptr inbounds nuw i8, ptr %59, i64 8
  %68 = load i64, ptr %67, align 8
  %69 = getelementptr inbounds i64, ptr %66, i64 %68
  store i64 %63, ptr %69, align 8
  %70 = add nuw nsw i64 %57, 1
  %71 = load i64, ptr %51, align 8
  %72 = icmp slt i64 %70, %71
  br i1 %72, label %56, label %73

73:                                               ; preds = %56, %49, %46
  %74 = phi i64 [ %48, %46 ], [ 0, %49 ], [ 0, %56 ]
  ret i64 %74
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
  call void @llvm.lifetime.start.p0(ptr nonnull %17) #9
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
  %29 = tail call ptr @pthread_getspecific(i32 noundef %28) #9
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
  %36 = call i32 @pthread_setspecific(i32 noundef %35, ptr noundef nonnull %17) #9
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
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #9
  %45 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %14) #9
  %46 = load i64, ptr %14, align 8
  %47 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %48 = load i64, ptr %47, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #9
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
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #9
  %75 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %13) #9
  %76 = load i64, ptr %13, align 8
  %77 = load i64, ptr %55, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #9
  call void %0(ptr noundef %1, ptr noundef %2, ptr noundef %3) #9
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #9
  %78 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %12) #9
  %79 = load i64, ptr %12, align 8
  %80 = mul nsw i64 %79, 1000000000
  %81 = load i64, ptr %56, align 8
  %82 = add nsw i64 %80, %81
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #9
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
  %100 = call ptr @pthread_getspecific(i32 noundef %99) #9
  %101 = icmp eq ptr %100, %17
  br i1 %101, label %102, label %111

102:                                              ; preds = %98
  %103 = load i32, ptr @key, align 4
  %104 = load ptr, ptr %25, align 8
  %105 = call i32 @pthread_setspecific(i32 noundef %103, ptr noundef %104) #9
  %106 = load ptr, ptr %25, align 8
  %107 = icmp eq ptr %106, null
  br i1 %107, label %108, label %111

108:                                              ; preds = %102
  %109 = getelementptr inbounds nuw i8, ptr %96, i64 256
  %110 = atomicrmw sub ptr %109, i32 1 monotonic, align 128
  br label %111

111:                                              ; preds = %94, %98, %102, %108
  call void @llvm.lifetime.end.p0(ptr nonnull %17) #9
  ret i64 %88
}

; Function Attrs: nofree norecurse nounwind memory(readwrite, target_mem0: none, target_mem1: none)
define internal void @read_pages(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, i64 %3) #6 {
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

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define i64 @tw_nonzero(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef readnone captures(none) %2) local_unnamed_addr #5 {
  %4 = load ptr, ptr %0, align 8
  %5 = load i64, ptr %1, align 8
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %7 = shl nsw i64 %5, 4
  %8 = getelementptr inbounds i8, ptr %6, i64 %7
  %9 = getelementptr inbounds i64, ptr %6, i64 %5
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = load ptr, ptr %10, align 8
  %12 = load i64, ptr %8, align 8
  %13 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %14 = getelementptr inbounds i64, ptr %13, i64 %12
  %15 = add i64 %5, -1
  %16 = getelementptr i64, ptr %1, i64 %5
  %17 = load i64, ptr %16, align 8
  %18 = icmp sgt i64 %5, 1
  br i1 %18, label %19, label %44

19:                                               ; preds = %3
  %20 = add nsw i64 %5, -2
  %21 = and i64 %15, 7
  %22 = icmp ult i64 %20, 7
  br i1 %22, label %27, label %23

23:                                               ; preds = %19
  %24 = and i64 %15, -8
  br label %58

25:                                               ; preds = %58
  %26 = icmp eq i64 %21, 0
  br i1 %26, label %41, label %27

27:                                               ; preds = %25, %19
  %28 = phi i64 [ 0, %19 ], [ %93, %25 ]
  %29 = phi i64 [ 1, %19 ], [ %92, %25 ]
  %30 = icmp ne i64 %21, 0
  tail call void @llvm.assume(i1 %30)
  br label %31

31:                                               ; preds = %31, %27
  %32 = phi i64 [ %38, %31 ], [ %28, %27 ]
  %33 = phi i64 [ %37, %31 ], [ %29, %27 ]
  %34 = phi i64 [ %39, %31 ], [ 0, %27 ]
  %35 = getelementptr inbounds nuw i64, ptr %6, i64 %32
  %36 = load i64, ptr %35, align 8
  %37 = mul nsw i64 %36, %33
  %38 = add nuw nsw i64 %32, 1
  %39 = add i64 %34, 1
  %40 = icmp eq i64 %39, %21
  br i1 %40, label %41, label %31

41:                                               ; preds = %31, %25
  %42 = phi i64 [ %92, %25 ], [ %37, %31 ]
  %43 = icmp sgt i64 %42, 0
  br i1 %43, label %44, label %100

44:                                               ; preds = %3, %41
  %45 = phi i64 [ %42, %41 ], [ 1, %3 ]
  %46 = icmp sgt i64 %17, 0
  %47 = add nsw i64 %5, -2
  %48 = and i64 %15, 1
  %49 = icmp eq i64 %5, 2
  %50 = and i64 %15, -2
  %51 = icmp eq i64 %48, 0
  %52 = icmp ne i64 %48, 0
  %53 = and i64 %17, 1
  %54 = icmp eq i64 %17, 1
  %55 = and i64 %17, 9223372036854775806
  %56 = icmp eq i64 %53, 0
  %57 = icmp ne i64 %53, 0
  br label %96

58:                                               ; preds = %58, %23
  %59 = phi i64 [ 0, %23 ], [ %93, %58 ]
  %60 = phi i64 [ 1, %23 ], [ %92, %58 ]
  %61 = phi i64 [ 0, %23 ], [ %94, %58 ]
  %62 = getelementptr inbounds nuw i64, ptr %6, i64 %59
  %63 = load i64, ptr %62, align 8
  %64 = mul nsw i64 %63, %60
  %65 = getelementptr inbounds nuw i64, ptr %6, i64 %59
  %66 = getelementptr inbounds nuw i8, ptr %65, i64 8
  %67 = load i64, ptr %66, align 8
  %68 = mul nsw i64 %67, %64
  %69 = getelementptr inbounds nuw i64, ptr %6, i64 %59
  %70 = getelementptr inbounds nuw i8, ptr %69, i64 16
  %71 = load i64, ptr %70, align 8
  %72 = mul nsw i64 %71, %68
  %73 = getelementptr inbounds nuw i64, ptr %6, i64 %59
  %74 = getelementptr inbounds nuw i8, ptr %73, i64 24
  %75 = load i64, ptr %74, align 8
  %76 = mul nsw i64 %75, %72
  %77 = getelementptr inbounds nuw i64, ptr %6, i64 %59
  %78 = getelementptr inbounds nuw i8, ptr %77, i64 32
  %79 = load i64, ptr %78, align 8
  %80 = mul nsw i64 %79, %76
  %81 = getelementptr inbounds nuw i64, ptr %6, i64 %59
  %82 = getelementptr inbounds nuw i8, ptr %81, i64 40
  %83 = load i64, ptr %82, align 8
  %84 = mul nsw i64 %83, %80
  %85 = getelementptr inbounds nuw i64, ptr %6, i64 %59
  %86 = getelementptr inbounds nuw i8, ptr %85, i64 48
  %87 = load i64, ptr %86, align 8
  %88 = mul nsw i64 %87, %84
  %89 = getelementptr inbounds nuw i64, ptr %6, i64 %59
  %90 = getelementptr inbounds nuw i8, ptr %89, i64 56
  %91 = load i64, ptr %90, align 8
  %92 = mul nsw i64 %91, %88
  %93 = add nuw nsw i64 %59, 8
  %94 = add i64 %61, 8
  %95 = icmp eq i64 %94, %24
  br i1 %95, label %25, label %58

96:                                               ; preds = %44, %212
  %97 = phi i64 [ 0, %44 ], [ %158, %212 ]
  %98 = phi i64 [ 0, %44 ], [ %213, %212 ]
  br i1 %18, label %99, label %115

99:                                               ; preds = %96
  br i1 %49, label %103, label %119

100:                                              ; preds = %212, %41
  %101 = phi i64 [ 0, %41 ], [ %158, %212 ]
  ret i64 %101

102:                                              ; preds = %119
  br i1 %51, label %115, label %103

103:                                              ; preds = %102, %99
  %104 = phi i64 [ %98, %99 ], [ %141, %102 ]
  %105 = phi i64 [ %15, %99 ], [ %133, %102 ]
  %106 = phi i64 [ 0, %99 ], [ %140, %102 ]
  tail call void @llvm.assume(i1 %52)
  %107 = getelementptr i64, ptr %1, i64 %105
  %108 = load i64, ptr %107, align 8
  %109 = srem i64 %104, %108
  %110 = getelementptr i64, ptr %9, i64 %105
  %111 = getelementptr i8, ptr %110, i64 -8
  %112 = load i64, ptr %111, align 8
  %113 = mul nsw i64 %112, %109
  %114 = add nsw i64 %113, %106
  br label %115

115:                                              ; preds = %103, %102, %96
  %116 = phi i64 [ 0, %96 ], [ %140, %102 ], [ %114, %103 ]
  br i1 %46, label %117, label %157

117:                                              ; preds = %115
  %118 = getelementptr i8, ptr %4, i64 %116
  br i1 %54, label %145, label %168

119:                                              ; preds = %99, %119
  %120 = phi i64 [ %141, %119 ], [ %98, %99 ]
  %121 = phi i64 [ %133, %119 ], [ %15, %99 ]
  %122 = phi i64 [ %140, %119 ], [ 0, %99 ]
  %123 = phi i64 [ %142, %119 ], [ 0, %99 ]
  %124 = add nsw i64 %121, -1
  %125 = getelementptr i64, ptr %1, i64 %121
  %126 = load i64, ptr %125, align 8
  %127 = srem i64 %120, %126
  %128 = getelementptr inbounds i64, ptr %9, i64 %124
  %129 = load i64, ptr %128, align 8
  %130 = mul nsw i64 %129, %127
  %131 = add nsw i64 %130, %122
  %132 = sdiv i64 %120, %126
  %133 = add nsw i64 %121, -2
  %134 = getelementptr i64, ptr %1, i64 %124
  %135 = load i64, ptr %134, align 8
  %136 = srem i64 %132, %135
  %137 = getelementptr inbounds i64, ptr %9, i64 %133
  %138 = load i64, ptr %137, align 8
  %139 = mul nsw i64 %138, %136
  %140 = add nsw i64 %139, %131
  %141 = sdiv i64 %132, %135
  %142 = add i64 %123, 2
  %143 = icmp eq i64 %142, %50
  br i1 %143, label %102, label %119

144:                                              ; preds = %193
  br i1 %56, label %157, label %145

145:                                              ; preds = %144, %117
  %146 = phi i64 [ 0, %117 ], [ %195, %144 ]
  %147 = phi i64 [ %97, %117 ], [ %194, %144 ]
  tail call void @llvm.assume(i1 %57)
  %148 = getelementptr i8, ptr %118, i64 %146
  %149 = load i8, ptr %148, align 1
  %150 = icmp eq i8 %149, 0
  br i1 %150, label %157, label %151

151:                                              ; preds = %145
  %152 = load i64, ptr %14, align 8
  %153 = mul nsw i64 %152, %15
  %154 = add nsw i64 %147, 1
  %155 = getelementptr i64, ptr %11, i64 %153
  %156 = getelementptr i64, ptr %155, i64 %147
  store i64 %146, ptr %156, align 8
  br label %157

157:                                              ; preds = %144, %151, %145, %115
  %158 = phi i64 [ %97, %115 ], [ %194, %144 ], [ %154, %151 ], [ %147, %145 ]
  br i1 %18, label %159, label %212

159:                                              ; preds = %157
  %160 = icmp slt i64 %97, %158
  %161 = sub i64 %158, %97
  %162 = add i64 %97, 1
  %163 = and i64 %161, 1
  %164 = icmp eq i64 %163, 0
  %165 = getelementptr i64, ptr %11, i64 %97
  %166 = add nsw i64 %97, 1
  %167 = icmp eq i64 %158, %162
  br label %198

168:                                              ; preds = %117, %193
  %169 = phi i64 [ %195, %193 ], [ 0, %117 ]
  %170 = phi i64 [ %194, %193 ], [ %97, %117 ]
  %171 = phi i64 [ %196, %193 ], [ 0, %117 ]
  %172 = getelementptr i8, ptr %118, i64 %169
  %173 = load i8, ptr %172, align 1
  %174 = icmp eq i8 %173, 0
  br i1 %174, label %181, label %175

175:                                              ; preds = %168
  %176 = load i64, ptr %14, align 8
  %177 = mul nsw i64 %176, %15
  %178 = add nsw i64 %170, 1
  %179 = getelementptr i64, ptr %11, i64 %177
  %180 = getelementptr i64, ptr %179, i64 %170
  store i64 %169, ptr %180, align 8
  br label %181

181:                                              ; preds = %168, %175
  %182 = phi i64 [ %178, %175 ], [ %170, %168 ]
  %183 = or disjoint i64 %169, 1
  %184 = getelementptr i8, ptr %118, i64 %183
  %185 = load i8, ptr %184, align 1
  %186 = icmp eq i8 %185, 0
  br i1 %186, label %193, label %187

187:                                              ; preds = %181
  %188 = load i64, ptr %14, align 8
  %189 = mul nsw i64 %188, %15
  %190 = add nsw i64 %182, 1
  %191 = getelementptr i64, ptr %11, i64 %189
  %192 = getelementptr i64, ptr %191, i64 %182
  store i64 %183, ptr %192, align 8
  br label %193

193:                                              ; preds = %187, %181
  %194 = phi i64 [ %190, %187 ], [ %182, %181 ]
  %195 = add nuw nsw i64 %169, 2
  %196 = add i64 %171, 2
  %197 = icmp eq i64 %196, %55
  br i1 %197, label %144, label %168

198:                                              ; preds = %159, %215
  %199 = phi i64 [ %47, %159 ], [ %219, %215 ]
  %200 = phi i64 [ %98, %159 ], [ %218, %215 ]
  %201 = phi i64 [ %15, %159 ], [ %199, %215 ]
  br i1 %160, label %202, label %215

202:                                              ; preds = %198
  %203 = getelementptr i64, ptr %1, i64 %201
  br i1 %164, label %210, label %204

204:                                              ; preds = %202
  %205 = load i64, ptr %203, align 8
  %206 = srem i64 %200, %205
  %207 = load i64, ptr %14, align 8
  %208 = mul nsw i64 %207, %199
  %209 = getelementptr i64, ptr %165, i64 %208
  store i64 %206, ptr %209, align 8
  br label %210

210:                                              ; preds = %204, %202
  %211 = phi i64 [ %97, %202 ], [ %166, %204 ]
  br i1 %167, label %215, label %221

212:                                              ; preds = %215, %157
  %213 = add nuw nsw i64 %98, 1
  %214 = icmp eq i64 %213, %45
  br i1 %214, label %100, label %96

215:                                              ; preds = %210, %221, %198
  %216 = getelementptr i64, ptr %1, i64 %201
  %217 = load i64, ptr %216, align 8
  %218 = sdiv i64 %200, %217
  %219 = add nsw i64 %199, -1
  %220 = icmp sgt i64 %199, 0
  br i1 %220, label %198, label %212

221:                                              ; preds = %210, %221
  %222 = phi i64 [ %236, %221 ], [ %211, %210 ]
  %223 = load i64, ptr %203, align 8
  %224 = srem i64 %200, %223
  %225 = load i64, ptr %14, align 8
  %226 = mul nsw i64 %225, %199
  %227 = getelementptr i64, ptr %11, i64 %226
  %228 = getelementptr i64, ptr %227, i64 %222
  store i64 %224, ptr %228, align 8
  %229 = load i64, ptr %203, align 8
  %230 = srem i64 %200, %229
  %231 = load i64, ptr %14, align 8
  %232 = mul nsw i64 %231, %199
  %233 = getelementptr i64, ptr %11, i64 %232
  %234 = getelementptr i64, ptr %233, i64 %222
  %235 = getelementptr i8, ptr %234, i64 8
  store i64 %230, ptr %235, align 8
  %236 = add nsw i64 %222, 2
  %237 = icmp eq i64 %236, %158
  br i1 %237, label %215, label %221
}

; Function Attrs: nounwind
define range(i64 -9223372036854775807, -9223372036854775808) i64 @tw_suppress(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2) local_unnamed_addr #1 {
  %4 = alloca %struct.suppression, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #9
  %5 = load ptr, ptr %0, align 8
  %6 = load i64, ptr %1, align 8
  %7 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %8 = shl nsw i64 %6, 4
  %9 = getelementptr inbounds i8, ptr %7, i64 %8
  %10 = getelementptr inbounds i64, ptr %7, i64 %6
  store ptr %5, ptr %4, align 8
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 8
  store i64 %6, ptr %11, align 8
  %12 = getelementptr inbounds nuw i8, ptr %4, i64 16
  store ptr %7, ptr %12, align 8
  %13 = getelementptr inbounds nuw i8, ptr %4, i64 24
  store ptr %10, ptr %13, align 8
  %14 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %16 = load ptr, ptr %15, align 8
  %17 = load i64, ptr %9, align 8
  %18 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %19 = shl nsw i64 %17, 4
  %20 = getelementptr inbounds i8, ptr %18, i64 %19
  %21 = getelementptr inbounds i64, ptr %18, i64 %17
  store ptr %16, ptr %14, align 8
  %22 = getelementptr inbounds nuw i8, ptr %4, i64 40
  store i64 %17, ptr %22, align 8
  %23 = getelementptr inbounds nuw i8, ptr %4, i64 48
  store ptr %18, ptr %23, align 8
  %24 = getelementptr inbounds nuw i8, ptr %4, i64 56
  store ptr %21, ptr %24, align 8
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %26 = load ptr, ptr %25, align 8
  %27 = load i64, ptr %20, align 8
  %28 = getelementptr inbounds nuw i8, ptr %20, i64 8
  %29 = shl nsw i64 %27, 4
  %30 = getelementptr inbounds i8, ptr %28, i64 %29
  %31 = load i64, ptr %26, align 8
  %32 = getelementptr inbounds nuw i8, ptr %4, i64 80
  store i64 %31, ptr %32, align 8
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %34 = load ptr, ptr %33, align 8
  %35 = load i64, ptr %30, align 8
  %36 = getelementptr inbounds nuw i8, ptr %30, i64 8
  %37 = shl nsw i64 %35, 4
  %38 = getelementptr inbounds i8, ptr %36, i64 %37
  %39 = load float, ptr %34, align 4
  %40 = getelementptr inbounds nuw i8, ptr %4, i64 64
  store float %39, ptr %40, align 8
  %41 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %42 = load ptr, ptr %41, align 8
  %43 = load i64, ptr %38, align 8
  %44 = getelementptr inbounds nuw i8, ptr %38, i64 8
  %45 = shl nsw i64 %43, 4
  %46 = getelementptr inbounds i8, ptr %44, i64 %45
  %47 = load float, ptr %42, align 4
  %48 = getelementptr inbounds nuw i8, ptr %4, i64 68
  store float %47, ptr %48, align 4
  %49 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %50 = load ptr, ptr %49, align 8
  %51 = load i64, ptr %46, align 8
  %52 = getelementptr inbounds nuw i8, ptr %46, i64 8
  %53 = shl nsw i64 %51, 4
  %54 = getelementptr inbounds i8, ptr %52, i64 %53
  %55 = getelementptr inbounds i64, ptr %52, i64 %51
  %56 = load i64, ptr %54, align 8
  %57 = getelementptr inbounds nuw i8, ptr %4, i64 72
  store i64 %56, ptr %57, align 8
  %58 = getelementptr inbounds nuw i8, ptr %54, i64 8
  %59 = load i64, ptr %58, align 8
  %60 = getelementptr inbounds nuw i8, ptr %9, i64 24
  %61 = load i64, ptr %60, align 8
  %62 = getelementptr inbounds nuw i8, ptr %9, i64 16
  %63 = load i64, ptr %62, align 8
  %64 = getelementptr inbounds nuw i8, ptr %4, i64 88
  store i64 %63, ptr %64, align 8
  %65 = load i64, ptr %18, align 8
  %66 = mul i64 %65, %63
  %67 = icmp sgt i64 %31, %61
  br i1 %67, label %68, label %69

68:                                               ; preds = %3
  store i64 %61, ptr %32, align 8
  br label %69

69:                                               ; preds = %68, %3
  %70 = phi i64 [ %61, %68 ], [ %31, %3 ]
  %71 = icmp slt i64 %70, 1
  %72 = icmp eq i64 %66, 0
  %73 = select i1 %71, i1 true, i1 %72
  br i1 %73, label %126, label %74

74:                                               ; preds = %69
  %75 = getelementptr inbounds nuw i8, ptr %4, i64 112
  store ptr %2, ptr %75, align 8
  %76 = shl nsw i64 %61, 4
  %77 = mul nuw nsw i64 %70, 20
  %78 = getelementptr inbounds nuw i8, ptr %4, i64 120
  %79 = or disjoint i64 %76, 15
  %80 = add i64 %79, %77
  %81 = sdiv i64 %80, 16
  %82 = shl nsw i64 %81, 4
  store i64 %82, ptr %78, align 8
  %83 = mul nsw i64 %82, %59
  %84 = getelementptr inbounds i8, ptr %2, i64 %83
  %85 = getelementptr inbounds nuw i8, ptr %4, i64 104
  store ptr %84, ptr %85, align 8
  %86 = getelementptr inbounds i64, ptr %84, i64 %66
  %87 = getelementptr inbounds nuw i8, ptr %4, i64 96
  store ptr %86, ptr %87, align 8
  %88 = trunc i64 %59 to i32
  call void @tw_parallel(ptr noundef nonnull @suppress_classes, ptr noundef nonnull %4, i64 noundef %66, i64 noundef 1, i32 noundef %88, ptr noundef nonnull @tw_suppress.loop)
  %89 = icmp sgt i64 %66, 0
  br i1 %89, label %90, label %126

90:                                               ; preds = %74
  %91 = load ptr, ptr %85, align 8
  br label %92

92:                                               ; preds = %90, %107
  %93 = phi i64 [ %109, %107 ], [ 0, %90 ]
  %94 = phi i64 [ %108, %107 ], [ 0, %90 ]
  %95 = getelementptr inbounds nuw i64, ptr %91, i64 %93
  %96 = load i64, ptr %95, align 8
  %97 = icmp sgt i64 %96, 0
  br i1 %97, label %98, label %107

98:                                               ; preds = %92
  %99 = load i64, ptr %64, align 8
  %100 = load ptr, ptr %87, align 8
  %101 = load i64, ptr %32, align 8
  %102 = sdiv i64 %93, %99
  %103 = srem i64 %93, %99
  %104 = mul nsw i64 %101, %93
  %105 = getelementptr i32, ptr %100, i64 %104
  %106 = getelementptr inbounds nuw i64, ptr %91, i64 %93
  br label %111

107:                                              ; preds = %111, %92
  %108 = phi i64 [ %94, %92 ], [ %114, %111 ]
  %109 = add nuw nsw i64 %93, 1
  %110 = icmp eq i64 %109, %66
  br i1 %110, label %126, label %92

111:                                              ; preds = %98, %111
  %112 = phi i64 [ %123, %111 ], [ 0, %98 ]
  %113 = phi i64 [ %114, %111 ], [ %94, %98 ]
  %114 = add nsw i64 %113, 1
  %115 = load i64, ptr %55, align 8
  %116 = mul nsw i64 %115, %113
  %117 = getelementptr inbounds i64, ptr %50, i64 %116
  store i64 %102, ptr %117, align 8
  %118 = getelementptr inbounds nuw i8, ptr %117, i64 8
  store i64 %103, ptr %118, align 8
  %119 = getelementptr i32, ptr %105, i64 %112
  %120 = load i32, ptr %119, align 4
  %121 = sext i32 %120 to i64
  %122 = getelementptr inbounds nuw i8, ptr %117, i64 16
  store i64 %121, ptr %122, align 8
  %123 = add nuw nsw i64 %112, 1
  %124 = load i64, ptr %106, align 8
  %125 = icmp slt i64 %123, %124
  br i1 %125, label %111, label %107

126:                                              ; preds = %107, %74, %69
  %127 = phi i64 [ 0, %69 ], [ 0, %74 ], [ %108, %107 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #9
  ret i64 %127
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define internal void @suppress_classes(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, i64 noundef %3) #5 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %9 = load i64, ptr %8, align 8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %13 = load i64, ptr %12, align 8
  %14 = mul nsw i64 %13, %3
  %15 = getelementptr inbounds i8, ptr %11, i64 %14
  %16 = getelementptr inbounds %struct.item, ptr %15, i64 %9
  %17 = icmp slt i64 %1, %2
  br i1 %17, label %18, label %30

18:                                               ; preds = %4
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %22 = icmp sgt i64 %9, 0
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 68
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %25 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 104
  br label %31

30:                                               ; preds = %329, %4
  ret void

31:                                               ; preds = %18, %329
  %32 = phi i64 [ %1, %18 ], [ %333, %329 ]
  %33 = load i64, ptr %19, align 8
  %34 = sdiv i64 %32, %33
  %35 = srem i64 %32, %33
  %36 = load ptr, ptr %5, align 8
  %37 = load ptr, ptr %20, align 8
  %38 = load i64, ptr %37, align 8
  %39 = mul nsw i64 %38, %34
  %40 = getelementptr inbounds float, ptr %36, i64 %39
  %41 = getelementptr inbounds nuw i8, ptr %37, i64 8
  %42 = load i64, ptr %41, align 8
  %43 = mul nsw i64 %42, %35
  %44 = getelementptr inbounds float, ptr %40, i64 %43
  %45 = load ptr, ptr %0, align 8
  %46 = load ptr, ptr %21, align 8
  %47 = load i64, ptr %46, align 8
  %48 = mul nsw i64 %47, %34
  %49 = getelementptr inbounds float, ptr %45, i64 %48
  br i1 %22, label %106, label %329

50:                                               ; preds = %177
  %51 = icmp sgt i64 %178, 1
  br i1 %51, label %52, label %104

52:                                               ; preds = %50
  %53 = lshr i64 %178, 1
  br label %54

54:                                               ; preds = %99, %52
  %55 = phi i64 [ %56, %99 ], [ %53, %52 ]
  %56 = add nsw i64 %55, -1
  %57 = getelementptr inbounds %struct.item, ptr %15, i64 %56
  %58 = load i64, ptr %57, align 8
  %59 = getelementptr inbounds nuw i8, ptr %57, i64 8
  %60 = load i64, ptr %59, align 8
  %61 = shl nuw nsw i64 %56, 1
  %62 = or disjoint i64 %61, 1
  %63 = icmp slt i64 %62, %178
  br i1 %63, label %64, label %99

64:                                               ; preds = %54, %94
  %65 = phi i64 [ %97, %94 ], [ %62, %54 ]
  %66 = phi i64 [ %96, %94 ], [ %61, %54 ]
  %67 = phi i64 [ %85, %94 ], [ %56, %54 ]
  %68 = add nsw i64 %66, 2
  %69 = icmp slt i64 %68, %178
  br i1 %69, label %70, label %84

70:                                               ; preds = %64
  %71 = getelementptr inbounds %struct.item, ptr %15, i64 %68
  %72 = getelementptr inbounds %struct.item, ptr %15, i64 %65
  %73 = load i64, ptr %71, align 8
  %74 = getelementptr inbounds nuw i8, ptr %71, i64 8
  %75 = load i64, ptr %74, align 8
  %76 = load i64, ptr %72, align 8
  %77 = getelementptr inbounds nuw i8, ptr %72, i64 8
  %78 = load i64, ptr %77, align 8
  %79 = icmp eq i64 %73, %76
  %80 = icmp sle i64 %73, %76
  %81 = icmp sge i64 %75, %78
  %82 = select i1 %79, i1 %81, i1 %80
  %83 = select i1 %82, i64 %65, i64 %68
  br label %84

84:                                               ; preds = %70, %64
  %85 = phi i64 [ %65, %64 ], [ %83, %70 ]
  %86 = getelementptr inbounds %struct.item, ptr %15, i64 %85
  %87 = load i64, ptr %86, align 8
  %88 = getelementptr inbounds nuw i8, ptr %86, i64 8
  %89 = load i64, ptr %88, align 8
  %90 = icmp eq i64 %87, %58
  %91 = icmp sle i64 %87, %58
  %92 = icmp sge i64 %89, %60
  %93 = select i1 %90, i1 %92, i1 %91
  br i1 %93, label %99, label %94

94:                                               ; preds = %84
  %95 = getelementptr inbounds %struct.item, ptr %15, i64 %67
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %95, ptr noundef nonnull align 8 dereferenceable(16) %86, i64 16, i1 false)
  %96 = shl nsw i64 %85, 1
  %97 = or disjoint i64 %96, 1
  %98 = icmp slt i64 %97, %178
  br i1 %98, label %64, label %99

99:                                               ; preds = %94, %84, %54
  %100 = phi i64 [ %56, %54 ], [ %67, %84 ], [ %85, %94 ]
  %101 = getelementptr inbounds %struct.item, ptr %15, i64 %100
  store i64 %58, ptr %101, align 8
  %102 = getelementptr inbounds nuw i8, ptr %101, i64 8
  store i64 %60, ptr %102, align 8
  %103 = icmp sgt i64 %55, 1
  br i1 %103, label %54, label %104

104:                                              ; preds = %99, %50
  %105 = icmp sgt i64 %178, 0
  br i1 %105, label %181, label %329

106:                                              ; preds = %31, %177
  %107 = phi i64 [ %178, %177 ], [ 0, %31 ]
  %108 = phi i64 [ %179, %177 ], [ 0, %31 ]
  %109 = and i64 %108, 31
  %110 = icmp eq i64 %109, 0
  br i1 %110, label %111, label %153

111:                                              ; preds = %106
  %112 = load float, ptr %23, align 4
  %113 = insertelement <4 x float> poison, float %112, i64 0
  %114 = shufflevector <4 x float> %113, <4 x float> poison, <4 x i32> zeroinitializer
  br label %115

115:                                              ; preds = %119, %111
  %116 = phi i64 [ %108, %111 ], [ %117, %119 ]
  %117 = add nsw i64 %116, 32
  %118 = icmp sgt i64 %117, %9
  br i1 %118, label %153, label %119

119:                                              ; preds = %115
  %120 = getelementptr float, ptr %44, i64 %116
  %121 = getelementptr i8, ptr %120, i64 16
  %122 = load <4 x float>, ptr %120, align 4
  %123 = load <4 x float>, ptr %121, align 4
  %124 = fcmp ugt <4 x float> %122, %114
  %125 = fcmp ugt <4 x float> %123, %114
  %126 = getelementptr i8, ptr %120, i64 32
  %127 = getelementptr i8, ptr %120, i64 48
  %128 = load <4 x float>, ptr %126, align 4
  %129 = load <4 x float>, ptr %127, align 4
  %130 = fcmp ugt <4 x float> %128, %114
  %131 = fcmp ugt <4 x float> %129, %114
  %132 = or <4 x i1> %124, %130
  %133 = or <4 x i1> %125, %131
  %134 = getelementptr i8, ptr %120, i64 64
  %135 = getelementptr i8, ptr %120, i64 80
  %136 = load <4 x float>, ptr %134, align 4
  %137 = load <4 x float>, ptr %135, align 4
  %138 = fcmp ugt <4 x float> %136, %114
  %139 = fcmp ugt <4 x float> %137, %114
  %140 = or <4 x i1> %132, %138
  %141 = or <4 x i1> %133, %139
  %142 = getelementptr i8, ptr %120, i64 96
  %143 = getelementptr i8, ptr %120, i64 112
  %144 = load <4 x float>, ptr %142, align 4
  %145 = load <4 x float>, ptr %143, align 4
  %146 = fcmp ugt <4 x float> %144, %114
  %147 = fcmp ugt <4 x float> %145, %114
  %148 = or <4 x i1> %140, %146
  %149 = or <4 x i1> %141, %147
  %150 = or <4 x i1> %149, %148
  %151 = bitcast <4 x i1> %150 to i4
  %152 = icmp eq i4 %151, 0
  br i1 %152, label %115, label %153

153:                                              ; preds = %119, %115, %106
  %154 = phi i64 [ %108, %106 ], [ %116, %115 ], [ %116, %119 ]
  %155 = icmp slt i64 %154, %9
  br i1 %155, label %156, label %177

156:                                              ; preds = %153
  %157 = getelementptr inbounds float, ptr %44, i64 %154
  %158 = load float, ptr %157, align 4
  %159 = load float, ptr %23, align 4
  %160 = fcmp ogt float %158, %159
  %161 = fcmp uno float %159, 0.000000e+00
  %162 = or i1 %160, %161
  br i1 %162, label %163, label %177

163:                                              ; preds = %156
  %164 = add nsw i64 %107, 1
  %165 = getelementptr inbounds %struct.item, ptr %15, i64 %107
  %166 = fcmp uno float %158, 0.000000e+00
  br i1 %166, label %174, label %167

167:                                              ; preds = %163
  %168 = fpext float %158 to double
  %169 = fadd double %168, 0.000000e+00
  %170 = bitcast double %169 to i64
  %171 = icmp slt i64 %170, 0
  %172 = xor i64 %170, 9223372036854775807
  %173 = select i1 %171, i64 %172, i64 %170
  br label %174

174:                                              ; preds = %163, %167
  %175 = phi i64 [ %173, %167 ], [ 9223372036854775807, %163 ]
  store i64 %175, ptr %165, align 8
  %176 = getelementptr inbounds nuw i8, ptr %165, i64 8
  store i64 %154, ptr %176, align 8
  br label %177

177:                                              ; preds = %156, %153, %174
  %178 = phi i64 [ %164, %174 ], [ %107, %156 ], [ %107, %153 ]
  %179 = add nsw i64 %154, 1
  %180 = icmp slt i64 %179, %9
  br i1 %180, label %106, label %50

181:                                              ; preds = %104, %325
  %182 = phi i64 [ %327, %325 ], [ %178, %104 ]
  %183 = phi i64 [ %326, %325 ], [ 0, %104 ]
  %184 = load i64, ptr %24, align 8
  %185 = icmp slt i64 %183, %184
  br i1 %185, label %186, label %329

186:                                              ; preds = %181
  %187 = load i64, ptr %25, align 8
  %188 = icmp eq i64 %182, 1
  br i1 %188, label %235, label %189

189:                                              ; preds = %186
  %190 = add nsw i64 %182, -1
  %191 = getelementptr inbounds nuw %struct.item, ptr %15, i64 %190
  %192 = load i64, ptr %191, align 8
  %193 = getelementptr inbounds nuw i8, ptr %191, i64 8
  %194 = load i64, ptr %193, align 8
  %195 = icmp eq i64 %182, 2
  br i1 %195, label %231, label %196

196:                                              ; preds = %189, %226
  %197 = phi i64 [ %229, %226 ], [ 1, %189 ]
  %198 = phi i64 [ %228, %226 ], [ 0, %189 ]
  %199 = phi i64 [ %217, %226 ], [ 0, %189 ]
  %200 = add nsw i64 %198, 2
  %201 = icmp slt i64 %200, %190
  br i1 %201, label %202, label %216

202:                                              ; preds = %196
  %203 = getelementptr inbounds %struct.item, ptr %15, i64 %200
  %204 = getelementptr inbounds %struct.item, ptr %15, i64 %197
  %205 = load i64, ptr %203, align 8
  %206 = getelementptr inbounds nuw i8, ptr %203, i64 8
  %207 = load i64, ptr %206, align 8
  %208 = load i64, ptr %204, align 8
  %209 = getelementptr inbounds nuw i8, ptr %204, i64 8
  %210 = load i64, ptr %209, align 8
  %211 = icmp eq i64 %205, %208
  %212 = icmp sle i64 %205, %208
  %213 = icmp sge i64 %207, %210
  %214 = select i1 %211, i1 %213, i1 %212
  %215 = select i1 %214, i64 %197, i64 %200
  br label %216

216:                                              ; preds = %202, %196
  %217 = phi i64 [ %197, %196 ], [ %215, %202 ]
  %218 = getelementptr inbounds %struct.item, ptr %15, i64 %217
  %219 = load i64, ptr %218, align 8
  %220 = getelementptr inbounds nuw i8, ptr %218, i64 8
  %221 = load i64, ptr %220, align 8
  %222 = icmp eq i64 %219, %192
  %223 = icmp sle i64 %219, %192
  %224 = icmp sge i64 %221, %194
  %225 = select i1 %222, i1 %224, i1 %223
  br i1 %225, label %231, label %226

226:                                              ; preds = %216
  %227 = getelementptr inbounds %struct.item, ptr %15, i64 %199
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %227, ptr noundef nonnull align 8 dereferenceable(16) %218, i64 16, i1 false)
  %228 = shl nsw i64 %217, 1
  %229 = or disjoint i64 %228, 1
  %230 = icmp slt i64 %229, %190
  br i1 %230, label %196, label %231

231:                                              ; preds = %226, %216, %189
  %232 = phi i64 [ 0, %189 ], [ %199, %216 ], [ %217, %226 ]
  %233 = getelementptr inbounds %struct.item, ptr %15, i64 %232
  store i64 %192, ptr %233, align 8
  %234 = getelementptr inbounds nuw i8, ptr %233, i64 8
  store i64 %194, ptr %234, align 8
  br label %235

235:                                              ; preds = %186, %231
  %236 = load ptr, ptr %21, align 8
  %237 = getelementptr inbounds nuw i8, ptr %236, i64 8
  %238 = load i64, ptr %237, align 8
  %239 = mul nsw i64 %238, %187
  %240 = getelementptr inbounds float, ptr %49, i64 %239
  %241 = load i64, ptr %26, align 8
  %242 = icmp eq i64 %241, 0
  br i1 %242, label %251, label %243

243:                                              ; preds = %235
  %244 = load <4 x float>, ptr %240, align 4
  %245 = fmul <4 x float> %244, <float 1.000000e+00, float 1.000000e+00, float 5.000000e-01, float 5.000000e-01>
  %246 = shufflevector <4 x float> %245, <4 x float> poison, <4 x i32> <i32 2, i32 3, i32 0, i32 1>
  %247 = shufflevector <4 x float> %244, <4 x float> %245, <4 x i32> <i32 0, i32 1, i32 6, i32 7>
  %248 = fsub <4 x float> %246, %247
  %249 = fadd <4 x float> %246, %247
  %250 = shufflevector <4 x float> %249, <4 x float> %248, <4 x i32> <i32 0, i32 1, i32 6, i32 7>
  br label %262

251:                                              ; preds = %235
  %252 = getelementptr inbounds nuw i8, ptr %240, i64 8
  %253 = load <2 x float>, ptr %240, align 4
  %254 = load <2 x float>, ptr %252, align 4
  %255 = load <4 x float>, ptr %240, align 4
  %256 = shufflevector <4 x float> %255, <4 x float> poison, <4 x i32> <i32 2, i32 3, i32 0, i32 1>
  %257 = fcmp olt <2 x float> %253, %254
  %258 = shufflevector <2 x i1> %257, <2 x i1> poison, <4 x i32> <i32 0, i32 1, i32 0, i32 1>
  %259 = shufflevector <2 x float> %253, <2 x float> %254, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %260 = select <4 x i1> %258, <4 x float> %256, <4 x float> %259
  %261 = shufflevector <4 x float> %260, <4 x float> poison, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  br label %262

262:                                              ; preds = %243, %251
  %263 = phi <4 x float> [ %261, %251 ], [ %250, %243 ]
  %264 = shufflevector <4 x float> %263, <4 x float> poison, <4 x i32> <i32 2, i32 poison, i32 poison, i32 poison>
  %265 = fsub <4 x float> %263, %264
  %266 = shufflevector <4 x float> %263, <4 x float> poison, <4 x i32> <i32 poison, i32 3, i32 poison, i32 poison>
  %267 = fsub <4 x float> %263, %266
  %268 = shufflevector <4 x float> %267, <4 x float> poison, <4 x i32> <i32 1, i32 poison, i32 poison, i32 poison>
  %269 = fmul <4 x float> %268, %265
  %270 = extractelement <4 x float> %269, i64 0
  %271 = icmp sgt i64 %183, 0
  br i1 %271, label %272, label %314

272:                                              ; preds = %262
  %273 = load float, ptr %27, align 8
  %274 = fcmp ugt float %270, 0.000000e+00
  %275 = shufflevector <4 x float> %263, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %276 = shufflevector <4 x float> %263, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  br label %277

277:                                              ; preds = %272, %311
  %278 = phi i64 [ 0, %272 ], [ %312, %311 ]
  %279 = getelementptr inbounds nuw %struct.box, ptr %16, i64 %278
  %280 = load <4 x float>, ptr %279, align 4
  %281 = shufflevector <4 x float> %280, <4 x float> poison, <2 x i32> <i32 0, i32 2>
  %282 = fcmp ogt <2 x float> %276, %281
  %283 = select <2 x i1> %282, <2 x float> %276, <2 x float> %281
  %284 = shufflevector <4 x float> %280, <4 x float> poison, <2 x i32> <i32 1, i32 3>
  %285 = fcmp olt <2 x float> %275, %284
  %286 = select <2 x i1> %285, <2 x float> %275, <2 x float> %284
  %287 = extractelement <2 x float> %286, i64 0
  %288 = extractelement <2 x float> %283, i64 0
  %289 = fcmp ugt float %287, %288
  %290 = fcmp ugt <2 x float> %286, %283
  %291 = extractelement <2 x i1> %290, i64 1
  %292 = select i1 %289, i1 %291, i1 false
  br i1 %292, label %293, label %311

293:                                              ; preds = %277
  %294 = fsub <2 x float> %286, %283
  %295 = shufflevector <2 x float> %294, <2 x float> poison, <2 x i32> <i32 1, i32 poison>
  %296 = fmul <2 x float> %294, %295
  %297 = extractelement <2 x float> %296, i64 0
  %298 = fcmp ugt float %297, 0.000000e+00
  %299 = select i1 %298, i1 %274, i1 false
  br i1 %299, label %300, label %311

300:                                              ; preds = %293
  %301 = getelementptr inbounds nuw i8, ptr %279, i64 16
  %302 = load float, ptr %301, align 4
  %303 = fadd float %270, %302
  %304 = fsub float %303, %297
  %305 = fcmp ole float %302, 0.000000e+00
  %306 = fcmp ole float %304, 0.000000e+00
  %307 = select i1 %305, i1 true, i1 %306
  %308 = fdiv float %297, %304
  %309 = fcmp ule float %308, %273
  %310 = select i1 %307, i1 true, i1 %309
  br i1 %310, label %311, label %325

311:                                              ; preds = %293, %300, %277
  %312 = add nuw nsw i64 %278, 1
  %313 = icmp eq i64 %312, %183
  br i1 %313, label %314, label %277

314:                                              ; preds = %311, %262
  %315 = trunc i64 %187 to i32
  %316 = load ptr, ptr %28, align 8
  %317 = load i64, ptr %24, align 8
  %318 = mul nsw i64 %317, %32
  %319 = getelementptr i32, ptr %316, i64 %318
  %320 = getelementptr i32, ptr %319, i64 %183
  store i32 %315, ptr %320, align 4
  %321 = add nsw i64 %183, 1
  %322 = getelementptr inbounds %struct.box, ptr %16, i64 %183
  %323 = shufflevector <4 x float> %263, <4 x float> poison, <4 x i32> <i32 2, i32 0, i32 3, i32 1>
  store <4 x float> %323, ptr %322, align 4
  %324 = getelementptr inbounds nuw i8, ptr %322, i64 16
  store float %270, ptr %324, align 4
  br label %325

325:                                              ; preds = %300, %314
  %326 = phi i64 [ %321, %314 ], [ %183, %300 ]
  %327 = add nsw i64 %182, -1
  %328 = icmp sgt i64 %182, 1
  br i1 %328, label %181, label %329

329:                                              ; preds = %181, %325, %31, %104
  %330 = phi i64 [ 0, %104 ], [ 0, %31 ], [ %183, %181 ], [ %326, %325 ]
  %331 = load ptr, ptr %29, align 8
  %332 = getelementptr inbounds i64, ptr %331, i64 %32
  store i64 %330, ptr %332, align 8
  %333 = add nsw i64 %32, 1
  %334 = icmp eq i64 %333, %2
  br i1 %334, label %30, label %31
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define i64 @tw_unique(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef captures(none) %2) local_unnamed_addr #5 {
  %4 = load ptr, ptr %0, align 8
  %5 = load i64, ptr %1, align 8
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %7 = shl nsw i64 %5, 4
  %8 = getelementptr inbounds i8, ptr %6, i64 %7
  %9 = getelementptr inbounds i64, ptr %6, i64 %5
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = load ptr, ptr %10, align 8
  %12 = load i64, ptr %8, align 8
  %13 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %14 = shl nsw i64 %12, 4
  %15 = getelementptr inbounds i8, ptr %13, i64 %14
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %17 = load ptr, ptr %16, align 8
  %18 = load i64, ptr %15, align 8
  %19 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %20 = shl nsw i64 %18, 4
  %21 = getelementptr inbounds i8, ptr %19, i64 %20
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %23 = load ptr, ptr %22, align 8
  %24 = load i64, ptr %21, align 8
  %25 = getelementptr inbounds nuw i8, ptr %21, i64 8
  %26 = shl nsw i64 %24, 4
  %27 = getelementptr inbounds i8, ptr %25, i64 %26
  %28 = load i64, ptr %27, align 8
  %29 = getelementptr inbounds nuw i8, ptr %27, i64 8
  %30 = load i64, ptr %29, align 8
  %31 = load i64, ptr %6, align 8
  %32 = getelementptr inbounds %struct.item, ptr %2, i64 %31
  %33 = load i64, ptr %9, align 8
  %34 = icmp sgt i64 %31, 0
  br i1 %34, label %35, label %202

35:                                               ; preds = %3
  %36 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %37 = load i64, ptr %36, align 8
  %38 = icmp eq i64 %37, 0
  br label %41

39:                                               ; preds = %69
  %40 = icmp eq i64 %31, 1
  br i1 %40, label %198, label %75

41:                                               ; preds = %69, %35
  %42 = phi i64 [ 0, %35 ], [ %73, %69 ]
  br i1 %38, label %69, label %43

43:                                               ; preds = %41
  %44 = mul nsw i64 %42, %33
  switch i64 %28, label %66 [
    i64 1, label %45
    i64 2, label %55
  ]

45:                                               ; preds = %43
  %46 = getelementptr inbounds double, ptr %4, i64 %44
  %47 = load double, ptr %46, align 8
  %48 = fcmp uno double %47, 0.000000e+00
  br i1 %48, label %69, label %49

49:                                               ; preds = %45
  %50 = fadd double %47, 0.000000e+00
  %51 = bitcast double %50 to i64
  %52 = icmp slt i64 %51, 0
  %53 = xor i64 %51, 9223372036854775807
  %54 = select i1 %52, i64 %53, i64 %51
  br label %69

55:                                               ; preds = %43
  %56 = getelementptr inbounds float, ptr %4, i64 %44
  %57 = load float, ptr %56, align 4
  %58 = fcmp uno float %57, 0.000000e+00
  br i1 %58, label %69, label %59

59:                                               ; preds = %55
  %60 = fpext float %57 to double
  %61 = fadd double %60, 0.000000e+00
  %62 = bitcast double %61 to i64
  %63 = icmp slt i64 %62, 0
  %64 = xor i64 %62, 9223372036854775807
  %65 = select i1 %63, i64 %64, i64 %62
  br label %69

66:                                               ; preds = %43
  %67 = getelementptr inbounds i64, ptr %4, i64 %44
  %68 = load i64, ptr %67, align 8
  br label %69

69:                                               ; preds = %66, %59, %55, %49, %45, %41
  %70 = phi i64 [ 0, %41 ], [ %68, %66 ], [ 9223372036854775807, %45 ], [ %54, %49 ], [ %65, %59 ], [ 9223372036854775807, %55 ]
  %71 = getelementptr inbounds nuw %struct.item, ptr %2, i64 %42
  store i64 %70, ptr %71, align 8
  %72 = getelementptr inbounds nuw i8, ptr %71, i64 8
  store i64 %42, ptr %72, align 8
  %73 = add nuw nsw i64 %42, 1
  %74 = icmp eq i64 %73, %31
  br i1 %74, label %39, label %41

75:                                               ; preds = %39, %80
  %76 = phi ptr [ %77, %80 ], [ %2, %39 ]
  %77 = phi ptr [ %76, %80 ], [ %32, %39 ]
  %78 = phi i64 [ %79, %80 ], [ 1, %39 ]
  %79 = shl i64 %78, 1
  br label %82

80:                                               ; preds = %93
  %81 = icmp slt i64 %79, %31
  br i1 %81, label %75, label %198

82:                                               ; preds = %93, %75
  %83 = phi i64 [ %78, %75 ], [ %96, %93 ]
  %84 = phi i64 [ 0, %75 ], [ %94, %93 ]
  %85 = tail call i64 @llvm.smin.i64(i64 %31, i64 %83)
  %86 = add nsw i64 %85, %78
  %87 = tail call i64 @llvm.smin.i64(i64 %31, i64 %86)
  %88 = add nsw i64 %84, %78
  %89 = tail call i64 @llvm.smin.i64(i64 %88, i64 %31)
  %90 = add nsw i64 %89, %78
  %91 = tail call i64 @llvm.smin.i64(i64 %90, i64 %31)
  %92 = icmp slt i64 %84, %91
  br i1 %92, label %97, label %93

93:                                               ; preds = %190, %82
  %94 = add nsw i64 %84, %79
  %95 = icmp slt i64 %94, %31
  %96 = add i64 %83, %79
  br i1 %95, label %82, label %80

97:                                               ; preds = %82, %190
  %98 = phi i64 [ %196, %190 ], [ %84, %82 ]
  %99 = phi i64 [ %193, %190 ], [ %89, %82 ]
  %100 = phi i64 [ %192, %190 ], [ %84, %82 ]
  %101 = icmp slt i64 %100, %89
  br i1 %101, label %102, label %188

102:                                              ; preds = %97
  %103 = icmp eq i64 %99, %91
  br i1 %103, label %186, label %104

104:                                              ; preds = %102
  %105 = getelementptr inbounds %struct.item, ptr %76, i64 %100
  %106 = getelementptr inbounds %struct.item, ptr %76, i64 %99
  %107 = load i64, ptr %105, align 8
  %108 = getelementptr inbounds nuw i8, ptr %105, i64 8
  %109 = load i64, ptr %108, align 8
  %110 = load i64, ptr %106, align 8
  %111 = getelementptr inbounds nuw i8, ptr %106, i64 8
  %112 = load i64, ptr %111, align 8
  %113 = icmp eq i64 %107, %110
  br i1 %113, label %116, label %114

114:                                              ; preds = %104
  %115 = icmp slt i64 %107, %110
  br i1 %115, label %186, label %188

116:                                              ; preds = %104
  %117 = load i64, ptr %36, align 8
  %118 = icmp sgt i64 %117, 1
  br i1 %118, label %119, label %186

119:                                              ; preds = %116
  %120 = load i64, ptr %9, align 8
  %121 = mul nsw i64 %120, %109
  %122 = mul nsw i64 %120, %112
  %123 = getelementptr float, ptr %4, i64 %122
  %124 = getelementptr double, ptr %4, i64 %122
  br label %128

125:                                              ; preds = %180
  %126 = add nuw nsw i64 %129, 1
  %127 = icmp eq i64 %126, %117
  br i1 %127, label %186, label %128

128:                                              ; preds = %125, %119
  %129 = phi i64 [ 1, %119 ], [ %126, %125 ]
  %130 = add nsw i64 %129, %121
  switch i64 %28, label %162 [
    i64 1, label %131
    i64 2, label %141
  ]

131:                                              ; preds = %128
  %132 = getelementptr inbounds double, ptr %4, i64 %130
  %133 = load double, ptr %132, align 8
  %134 = fcmp uno double %133, 0.000000e+00
  br i1 %134, label %152, label %135

135:                                              ; preds = %131
  %136 = fadd double %133, 0.000000e+00
  %137 = bitcast double %136 to i64
  %138 = icmp slt i64 %137, 0
  %139 = xor i64 %137, 9223372036854775807
  %140 = select i1 %138, i64 %139, i64 %137
  br label %152

141:                                              ; preds = %128
  %142 = getelementptr inbounds float, ptr %4, i64 %130
  %143 = load float, ptr %142, align 4
  %144 = fcmp uno float %143, 0.000000e+00
  br i1 %144, label %157, label %145

145:                                              ; preds = %141
  %146 = fpext float %143 to double
  %147 = fadd double %146, 0.000000e+00
  %148 = bitcast double %147 to i64
  %149 = icmp slt i64 %148, 0
  %150 = xor i64 %148, 9223372036854775807
  %151 = select i1 %149, i64 %150, i64 %148
  br label %157

152:                                              ; preds = %135, %131
  %153 = phi i64 [ %140, %135 ], [ 9223372036854775807, %131 ]
  %154 = getelementptr double, ptr %124, i64 %129
  %155 = load double, ptr %154, align 8
  %156 = fcmp uno double %155, 0.000000e+00
  br i1 %156, label %180, label %167

157:                                              ; preds = %145, %141
  %158 = phi i64 [ 9223372036854775807, %141 ], [ %151, %145 ]
  %159 = getelementptr float, ptr %123, i64 %129
  %160 = load float, ptr %159, align 4
  %161 = fcmp uno float %160, 0.000000e+00
  br i1 %161, label %180, label %173

162:                                              ; preds = %128
  %163 = getelementptr inbounds i64, ptr %4, i64 %130
  %164 = load i64, ptr %163, align 8
  %165 = getelementptr i64, ptr %124, i64 %129
  %166 = load i64, ptr %165, align 8
  br label %180

167:                                              ; preds = %152
  %168 = fadd double %155, 0.000000e+00
  %169 = bitcast double %168 to i64
  %170 = icmp slt i64 %169, 0
  %171 = xor i64 %169, 9223372036854775807
  %172 = select i1 %170, i64 %171, i64 %169
  br label %180

173:                                              ; preds = %157
  %174 = fpext float %160 to double
  %175 = fadd double %174, 0.000000e+00
  %176 = bitcast double %175 to i64
  %177 = icmp slt i64 %176, 0
  %178 = xor i64 %176, 9223372036854775807
  %179 = select i1 %177, i64 %178, i64 %176
  br label %180

180:                                              ; preds = %173, %167, %162, %157, %152
  %181 = phi i64 [ %164, %162 ], [ %153, %152 ], [ %153, %167 ], [ %158, %173 ], [ %158, %157 ]
  %182 = phi i64 [ %166, %162 ], [ 9223372036854775807, %152 ], [ %172, %167 ], [ %179, %173 ], [ 9223372036854775807, %157 ]
  %183 = icmp eq i64 %181, %182
  br i1 %183, label %125, label %184

184:                                              ; preds = %180
  %185 = icmp slt i64 %181, %182
  br i1 %185, label %186, label %188

186:                                              ; preds = %125, %184, %114, %116, %102
  %187 = add nsw i64 %100, 1
  br label %190

188:                                              ; preds = %114, %184, %97
  %189 = add nsw i64 %99, 1
  br label %190

190:                                              ; preds = %188, %186
  %191 = phi i64 [ %99, %188 ], [ %100, %186 ]
  %192 = phi i64 [ %100, %188 ], [ %187, %186 ]
  %193 = phi i64 [ %189, %188 ], [ %99, %186 ]
  %194 = getelementptr inbounds %struct.item, ptr %77, i64 %98
  %195 = getelementptr inbounds %struct.item, ptr %76, i64 %191
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %194, ptr noundef nonnull align 8 dereferenceable(16) %195, i64 16, i1 false)
  %196 = add i64 %98, 1
  %197 = icmp eq i64 %196, %87
  br i1 %197, label %93, label %97

198:                                              ; preds = %80, %39
  %199 = phi ptr [ %2, %39 ], [ %77, %80 ]
  %200 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %201 = getelementptr inbounds nuw i8, ptr %199, i64 8
  br label %205

202:                                              ; preds = %297, %3
  %203 = phi i64 [ 0, %3 ], [ %299, %297 ]
  %204 = icmp eq i64 %30, 0
  br i1 %204, label %307, label %372

205:                                              ; preds = %198, %297
  %206 = phi i64 [ 0, %198 ], [ %299, %297 ]
  %207 = phi i64 [ 0, %198 ], [ %305, %297 ]
  %208 = icmp eq i64 %207, 0
  br i1 %208, label %209, label %211

209:                                              ; preds = %205
  %210 = load i64, ptr %201, align 8
  br label %289

211:                                              ; preds = %205
  %212 = getelementptr %struct.item, ptr %199, i64 %207
  %213 = getelementptr i8, ptr %212, i64 -16
  %214 = load i64, ptr %213, align 8
  %215 = getelementptr i8, ptr %212, i64 -8
  %216 = load i64, ptr %215, align 8
  %217 = load i64, ptr %212, align 8
  %218 = getelementptr inbounds nuw i8, ptr %212, i64 8
  %219 = load i64, ptr %218, align 8
  %220 = icmp eq i64 %214, %217
  br i1 %220, label %221, label %289

221:                                              ; preds = %211
  %222 = load i64, ptr %200, align 8
  %223 = icmp sgt i64 %222, 1
  br i1 %223, label %224, label %297

224:                                              ; preds = %221
  %225 = load i64, ptr %9, align 8
  %226 = mul nsw i64 %225, %216
  %227 = mul nsw i64 %225, %219
  %228 = getelementptr float, ptr %4, i64 %227
  %229 = getelementptr double, ptr %4, i64 %227
  br label %233

230:                                              ; preds = %285
  %231 = add nuw nsw i64 %234, 1
  %232 = icmp eq i64 %231, %222
  br i1 %232, label %297, label %233

233:                                              ; preds = %230, %224
  %234 = phi i64 [ 1, %224 ], [ %231, %230 ]
  %235 = add nsw i64 %234, %226
  switch i64 %28, label %267 [
    i64 1, label %236
    i64 2, label %246
  ]

236:                                              ; preds = %233
  %237 = getelementptr inbounds double, ptr %4, i64 %235
  %238 = load double, ptr %237, align 8
  %239 = fcmp uno double %238, 0.000000e+00
  br i1 %239, label %257, label %240

240:                                              ; preds = %236
  %241 = fadd double %238, 0.000000e+00
  %242 = bitcast double %241 to i64
  %243 = icmp slt i64 %242, 0
  %244 = xor i64 %242, 9223372036854775807
  %245 = select i1 %243, i64 %244, i64 %242
  br label %257

246:                                              ; preds = %233
  %247 = getelementptr inbounds float, ptr %4, i64 %235
  %248 = load float, ptr %247, align 4
  %249 = fcmp uno float %248, 0.000000e+00
  br i1 %249, label %262, label %250

250:                                              ; preds = %246
  %251 = fpext float %248 to double
  %252 = fadd double %251, 0.000000e+00
  %253 = bitcast double %252 to i64
  %254 = icmp slt i64 %253, 0
  %255 = xor i64 %253, 9223372036854775807
  %256 = select i1 %254, i64 %255, i64 %253
  br label %262

257:                                              ; preds = %240, %236
  %258 = phi i64 [ %245, %240 ], [ 9223372036854775807, %236 ]
  %259 = getelementptr double, ptr %229, i64 %234
  %260 = load double, ptr %259, align 8
  %261 = fcmp uno double %260, 0.000000e+00
  br i1 %261, label %285, label %272

262:                                              ; preds = %250, %246
  %263 = phi i64 [ 9223372036854775807, %246 ], [ %256, %250 ]
  %264 = getelementptr float, ptr %228, i64 %234
  %265 = load float, ptr %264, align 4
  %266 = fcmp uno float %265, 0.000000e+00
  br i1 %266, label %285, label %278

267:                                              ; preds = %233
  %268 = getelementptr inbounds i64, ptr %4, i64 %235
  %269 = load i64, ptr %268, align 8
  %270 = getelementptr i64, ptr %229, i64 %234
  %271 = load i64, ptr %270, align 8
  br label %285

272:                                              ; preds = %257
  %273 = fadd double %260, 0.000000e+00
  %274 = bitcast double %273 to i64
  %275 = icmp slt i64 %274, 0
  %276 = xor i64 %274, 9223372036854775807
  %277 = select i1 %275, i64 %276, i64 %274
  br label %285

278:                                              ; preds = %262
  %279 = fpext float %265 to double
  %280 = fadd double %279, 0.000000e+00
  %281 = bitcast double %280 to i64
  %282 = icmp slt i64 %281, 0
  %283 = xor i64 %281, 9223372036854775807
  %284 = select i1 %282, i64 %283, i64 %281
  br label %285

285:                                              ; preds = %278, %272, %267, %262, %257
  %286 = phi i64 [ %269, %267 ], [ %258, %257 ], [ %258, %272 ], [ %263, %278 ], [ %263, %262 ]
  %287 = phi i64 [ %271, %267 ], [ 9223372036854775807, %257 ], [ %277, %272 ], [ %284, %278 ], [ 9223372036854775807, %262 ]
  %288 = icmp eq i64 %286, %287
  br i1 %288, label %230, label %289

289:                                              ; preds = %285, %209, %211
  %290 = phi i64 [ %210, %209 ], [ %219, %211 ], [ %219, %285 ]
  %291 = getelementptr inbounds nuw %struct.item, ptr %199, i64 %207
  %292 = getelementptr inbounds nuw i8, ptr %291, i64 8
  %293 = getelementptr inbounds i64, ptr %11, i64 %206
  store i64 %290, ptr %293, align 8
  %294 = add nsw i64 %206, 1
  %295 = getelementptr inbounds i64, ptr %23, i64 %206
  store i64 0, ptr %295, align 8
  %296 = load i64, ptr %292, align 8
  br label %297

297:                                              ; preds = %230, %221, %289
  %298 = phi i64 [ %296, %289 ], [ %219, %221 ], [ %219, %230 ]
  %299 = phi i64 [ %294, %289 ], [ %206, %221 ], [ %206, %230 ]
  %300 = add nsw i64 %299, -1
  %301 = getelementptr inbounds i64, ptr %17, i64 %298
  store i64 %300, ptr %301, align 8
  %302 = getelementptr inbounds i64, ptr %23, i64 %300
  %303 = load i64, ptr %302, align 8
  %304 = add nsw i64 %303, 1
  store i64 %304, ptr %302, align 8
  %305 = add nuw nsw i64 %207, 1
  %306 = icmp eq i64 %305, %31
  br i1 %306, label %202, label %205

307:                                              ; preds = %202
  %308 = getelementptr inbounds i64, ptr %2, i64 %31
  %309 = shl i64 %203, 3
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 8 %308, ptr align 8 %23, i64 %309, i1 false)
  br i1 %34, label %310, label %372

310:                                              ; preds = %307, %327
  %311 = phi i64 [ %330, %327 ], [ 0, %307 ]
  %312 = phi i64 [ %329, %327 ], [ 0, %307 ]
  %313 = getelementptr inbounds nuw i64, ptr %17, i64 %311
  %314 = load i64, ptr %313, align 8
  %315 = getelementptr inbounds i64, ptr %11, i64 %314
  %316 = load i64, ptr %315, align 8
  %317 = icmp eq i64 %316, %311
  br i1 %317, label %321, label %318

318:                                              ; preds = %310
  %319 = getelementptr inbounds i64, ptr %2, i64 %314
  %320 = load i64, ptr %319, align 8
  br label %327

321:                                              ; preds = %310
  %322 = getelementptr inbounds i64, ptr %308, i64 %314
  %323 = load i64, ptr %322, align 8
  %324 = getelementptr inbounds i64, ptr %23, i64 %312
  store i64 %323, ptr %324, align 8
  %325 = add nsw i64 %312, 1
  %326 = getelementptr inbounds i64, ptr %2, i64 %314
  store i64 %312, ptr %326, align 8
  br label %327

327:                                              ; preds = %318, %321
  %328 = phi i64 [ %312, %321 ], [ %320, %318 ]
  %329 = phi i64 [ %325, %321 ], [ %312, %318 ]
  store i64 %328, ptr %313, align 8
  %330 = add nuw nsw i64 %311, 1
  %331 = icmp eq i64 %330, %31
  br i1 %331, label %332, label %310

332:                                              ; preds = %327
  %333 = and i64 %31, 1
  %334 = icmp eq i64 %31, 1
  br i1 %334, label %363, label %335

335:                                              ; preds = %332
  %336 = and i64 %31, 9223372036854775806
  br label %337

337:                                              ; preds = %356, %335
  %338 = phi i64 [ 0, %335 ], [ %357, %356 ]
  %339 = phi i64 [ 0, %335 ], [ %358, %356 ]
  %340 = phi i64 [ 0, %335 ], [ %359, %356 ]
  %341 = getelementptr inbounds nuw i64, ptr %17, i64 %339
  %342 = load i64, ptr %341, align 8
  %343 = icmp eq i64 %342, %338
  br i1 %343, label %344, label %347

344:                                              ; preds = %337
  %345 = add nsw i64 %338, 1
  %346 = getelementptr inbounds i64, ptr %11, i64 %338
  store i64 %339, ptr %346, align 8
  br label %347

347:                                              ; preds = %337, %344
  %348 = phi i64 [ %345, %344 ], [ %338, %337 ]
  %349 = or disjoint i64 %339, 1
  %350 = getelementptr inbounds nuw i64, ptr %17, i64 %349
  %351 = load i64, ptr %350, align 8
  %352 = icmp eq i64 %351, %348
  br i1 %352, label %353, label %356

353:                                              ; preds = %347
  %354 = add nsw i64 %348, 1
  %355 = getelementptr inbounds i64, ptr %11, i64 %348
  store i64 %349, ptr %355, align 8
  br label %356

356:                                              ; preds = %353, %347
  %357 = phi i64 [ %354, %353 ], [ %348, %347 ]
  %358 = add nuw nsw i64 %339, 2
  %359 = add i64 %340, 2
  %360 = icmp eq i64 %359, %336
  br i1 %360, label %361, label %337

361:                                              ; preds = %356
  %362 = icmp eq i64 %333, 0
  br i1 %362, label %372, label %363

363:                                              ; preds = %361, %332
  %364 = phi i64 [ 0, %332 ], [ %357, %361 ]
  %365 = phi i64 [ 0, %332 ], [ %358, %361 ]
  %366 = icmp ne i64 %333, 0
  tail call void @llvm.assume(i1 %366)
  %367 = getelementptr inbounds nuw i64, ptr %17, i64 %365
  %368 = load i64, ptr %367, align 8
  %369 = icmp eq i64 %368, %364
  br i1 %369, label %370, label %372

370:                                              ; preds = %363
  %371 = getelementptr inbounds i64, ptr %11, i64 %364
  store i64 %365, ptr %371, align 8
  br label %372

372:                                              ; preds = %361, %370, %363, %307, %202
  ret i64 %203
}

; Function Attrs: nounwind
define i64 @tw_top_k(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2) local_unnamed_addr #1 {
  %4 = alloca %struct.top, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #9
  %5 = load ptr, ptr %0, align 8
  %6 = load i64, ptr %1, align 8
  %7 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %8 = shl nsw i64 %6, 4
  %9 = getelementptr inbounds i8, ptr %7, i64 %8
  %10 = getelementptr inbounds i64, ptr %7, i64 %6
  store ptr %5, ptr %4, align 8
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 8
  store i64 %6, ptr %11, align 8
  %12 = getelementptr inbounds nuw i8, ptr %4, i64 16
  store ptr %7, ptr %12, align 8
  %13 = getelementptr inbounds nuw i8, ptr %4, i64 24
  store ptr %10, ptr %13, align 8
  %14 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %16 = load ptr, ptr %15, align 8
  %17 = load i64, ptr %9, align 8
  %18 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %19 = shl nsw i64 %17, 4
  %20 = getelementptr inbounds i8, ptr %18, i64 %19
  %21 = getelementptr inbounds i64, ptr %18, i64 %17
  store ptr %16, ptr %14, align 8
  %22 = getelementptr inbounds nuw i8, ptr %4, i64 40
  store i64 %17, ptr %22, align 8
  %23 = getelementptr inbounds nuw i8, ptr %4, i64 48
  store ptr %18, ptr %23, align 8
  %24 = getelementptr inbounds nuw i8, ptr %4, i64 56
  store ptr %21, ptr %24, align 8
  %25 = getelementptr inbounds nuw i8, ptr %4, i64 72
  %26 = load <2 x i64>, ptr %20, align 8
  store <2 x i64> %26, ptr %25, align 8
  %27 = getelementptr inbounds nuw i8, ptr %20, i64 16
  %28 = load i64, ptr %27, align 8
  %29 = getelementptr inbounds nuw i8, ptr %4, i64 64
  store i64 %28, ptr %29, align 8
  %30 = getelementptr inbounds nuw i8, ptr %4, i64 88
  store ptr %2, ptr %30, align 8
  %31 = getelementptr inbounds nuw i8, ptr %20, i64 24
  %32 = load i64, ptr %31, align 8
  %33 = trunc i64 %32 to i32
  %34 = icmp sgt i64 %28, 0
  br i1 %34, label %35, label %42

35:                                               ; preds = %3
  %36 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %37 = load i64, ptr %36, align 8
  %38 = icmp sgt i64 %28, %37
  br i1 %38, label %42, label %39

39:                                               ; preds = %35
  %40 = load i64, ptr %7, align 8
  call void @tw_parallel(ptr noundef nonnull @top_rows, ptr noundef nonnull %4, i64 noundef %40, i64 noundef 1, i32 noundef %33, ptr noundef nonnull @tw_top_k.loop)
  %41 = load i64, ptr %29, align 8
  br label %42

42:                                               ; preds = %39, %35, %3
  %43 = phi i64 [ %41, %39 ], [ %28, %35 ], [ %28, %3 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #9
  ret i64 %43
}

; Function Attrs: nounwind
define internal void @top_rows(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, i64 noundef %3) #1 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8
  %7 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %8 = load i64, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %10 = load i64, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %12 = load ptr, ptr %11, align 8
  %13 = mul nsw i64 %10, %3
  %14 = getelementptr inbounds %struct.item, ptr %12, i64 %13
  %15 = icmp slt i64 %1, %2
  br i1 %15, label %16, label %28

16:                                               ; preds = %4
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %18 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %19 = icmp sgt i64 %8, 0
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %22 = add nsw i64 %10, -1
  %23 = icmp sgt i64 %10, 1
  %24 = lshr i64 %10, 1
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %27 = icmp sgt i64 %10, 0
  br label %29

28:                                               ; preds = %207, %4
  ret void

29:                                               ; preds = %16, %207
  %30 = phi i64 [ %1, %16 ], [ %208, %207 ]
  %31 = load ptr, ptr %17, align 8
  %32 = load i64, ptr %31, align 8
  %33 = mul nsw i64 %32, %30
  %34 = load ptr, ptr %0, align 8
  %35 = getelementptr inbounds float, ptr %34, i64 %33
  br i1 %19, label %36, label %201

36:                                               ; preds = %29, %198
  %37 = phi i64 [ %199, %198 ], [ 0, %29 ]
  %38 = icmp sge i64 %37, %10
  %39 = and i64 %37, 31
  %40 = icmp eq i64 %39, 0
  %41 = and i1 %38, %40
  %42 = load i64, ptr %20, align 8
  %43 = icmp eq i64 %42, 2
  %44 = select i1 %41, i1 %43, i1 false
  br i1 %44, label %45, label %57

45:                                               ; preds = %36
  %46 = load i64, ptr %18, align 8
  %47 = sub nsw i64 0, %46
  %48 = getelementptr inbounds float, ptr %35, i64 %47
  %49 = load float, ptr %48, align 4
  %50 = load i64, ptr %21, align 8
  %51 = icmp eq i64 %50, 0
  %52 = select i1 %51, ptr @skip_above, ptr @skip_below
  %53 = tail call i64 %52(ptr noundef %35, i64 noundef %37, i64 noundef %8, float noundef %49) #9
  %54 = icmp eq i64 %53, %8
  br i1 %54, label %201, label %55

55:                                               ; preds = %45
  %56 = load i64, ptr %20, align 8
  br label %57

57:                                               ; preds = %55, %36
  %58 = phi i64 [ %56, %55 ], [ %42, %36 ]
  %59 = phi i64 [ %53, %55 ], [ %37, %36 ]
  %60 = load ptr, ptr %0, align 8
  %61 = add nsw i64 %59, %33
  switch i64 %58, label %83 [
    i64 1, label %62
    i64 2, label %72
  ]

62:                                               ; preds = %57
  %63 = getelementptr inbounds double, ptr %60, i64 %61
  %64 = load double, ptr %63, align 8
  %65 = fcmp uno double %64, 0.000000e+00
  br i1 %65, label %86, label %66

66:                                               ; preds = %62
  %67 = fadd double %64, 0.000000e+00
  %68 = bitcast double %67 to i64
  %69 = icmp slt i64 %68, 0
  %70 = xor i64 %68, 9223372036854775807
  %71 = select i1 %69, i64 %70, i64 %68
  br label %86

72:                                               ; preds = %57
  %73 = getelementptr inbounds float, ptr %60, i64 %61
  %74 = load float, ptr %73, align 4
  %75 = fcmp uno float %74, 0.000000e+00
  br i1 %75, label %86, label %76

76:                                               ; preds = %72
  %77 = fpext float %74 to double
  %78 = fadd double %77, 0.000000e+00
  %79 = bitcast double %78 to i64
  %80 = icmp slt i64 %79, 0
  %81 = xor i64 %79, 9223372036854775807
  %82 = select i1 %80, i64 %81, i64 %79
  br label %86

83:                                               ; preds = %57
  %84 = getelementptr inbounds i64, ptr %60, i64 %61
  %85 = load i64, ptr %84, align 8
  br label %86

86:                                               ; preds = %62, %66, %72, %76, %83
  %87 = phi i64 [ %85, %83 ], [ 9223372036854775807, %62 ], [ %71, %66 ], [ %82, %76 ], [ 9223372036854775807, %72 ]
  %88 = load i64, ptr %21, align 8
  %89 = icmp ne i64 %88, 0
  %90 = sext i1 %89 to i64
  %91 = xor i64 %87, %90
  %92 = sub nsw i64 0, %59
  %93 = icmp slt i64 %59, %10
  br i1 %93, label %94, label %97

94:                                               ; preds = %86
  %95 = getelementptr inbounds %struct.item, ptr %14, i64 %59
  store i64 %91, ptr %95, align 8
  %96 = getelementptr inbounds nuw i8, ptr %95, i64 8
  store i64 %92, ptr %96, align 8
  br label %97

97:                                               ; preds = %94, %86
  %98 = icmp eq i64 %59, %22
  %99 = and i1 %23, %98
  br i1 %99, label %100, label %150

100:                                              ; preds = %97, %145
  %101 = phi i64 [ %102, %145 ], [ %24, %97 ]
  %102 = add nsw i64 %101, -1
  %103 = getelementptr inbounds %struct.item, ptr %14, i64 %102
  %104 = load i64, ptr %103, align 8
  %105 = getelementptr inbounds nuw i8, ptr %103, i64 8
  %106 = load i64, ptr %105, align 8
  %107 = shl nuw nsw i64 %102, 1
  %108 = or disjoint i64 %107, 1
  %109 = icmp slt i64 %108, %10
  br i1 %109, label %110, label %145

110:                                              ; preds = %100, %140
  %111 = phi i64 [ %143, %140 ], [ %108, %100 ]
  %112 = phi i64 [ %142, %140 ], [ %107, %100 ]
  %113 = phi i64 [ %131, %140 ], [ %102, %100 ]
  %114 = add nsw i64 %112, 2
  %115 = icmp slt i64 %114, %10
  br i1 %115, label %116, label %130

116:                                              ; preds = %110
  %117 = getelementptr inbounds %struct.item, ptr %14, i64 %114
  %118 = getelementptr inbounds %struct.item, ptr %14, i64 %111
  %119 = load i64, ptr %117, align 8
  %120 = getelementptr inbounds nuw i8, ptr %117, i64 8
  %121 = load i64, ptr %120, align 8
  %122 = load i64, ptr %118, align 8
  %123 = getelementptr inbounds nuw i8, ptr %118, i64 8
  %124 = load i64, ptr %123, align 8
  %125 = icmp eq i64 %119, %122
  %126 = icmp sle i64 %119, %122
  %127 = icmp sge i64 %121, %124
  %128 = select i1 %125, i1 %127, i1 %126
  %129 = select i1 %128, i64 %111, i64 %114
  br label %130

130:                                              ; preds = %116, %110
  %131 = phi i64 [ %111, %110 ], [ %129, %116 ]
  %132 = getelementptr inbounds %struct.item, ptr %14, i64 %131
  %133 = load i64, ptr %132, align 8
  %134 = getelementptr inbounds nuw i8, ptr %132, i64 8
  %135 = load i64, ptr %134, align 8
  %136 = icmp eq i64 %133, %104
  %137 = icmp sle i64 %133, %104
  %138 = icmp sge i64 %135, %106
  %139 = select i1 %136, i1 %138, i1 %137
  br i1 %139, label %145, label %140

140:                                              ; preds = %130
  %141 = getelementptr inbounds %struct.item, ptr %14, i64 %113
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %141, ptr noundef nonnull align 8 dereferenceable(16) %132, i64 16, i1 false)
  %142 = shl nsw i64 %131, 1
  %143 = or disjoint i64 %142, 1
  %144 = icmp slt i64 %143, %10
  br i1 %144, label %110, label %145

145:                                              ; preds = %140, %130, %100
  %146 = phi i64 [ %102, %100 ], [ %113, %130 ], [ %131, %140 ]
  %147 = getelementptr inbounds %struct.item, ptr %14, i64 %146
  store i64 %104, ptr %147, align 8
  %148 = getelementptr inbounds nuw i8, ptr %147, i64 8
  store i64 %106, ptr %148, align 8
  %149 = icmp sgt i64 %101, 1
  br i1 %149, label %100, label %150

150:                                              ; preds = %145, %97
  br i1 %93, label %198, label %151

151:                                              ; preds = %150
  %152 = load i64, ptr %14, align 8
  %153 = load i64, ptr %18, align 8
  %154 = icmp eq i64 %152, %91
  %155 = icmp sle i64 %152, %91
  %156 = icmp sge i64 %153, %92
  %157 = select i1 %154, i1 %156, i1 %155
  br i1 %157, label %198, label %158

158:                                              ; preds = %151
  br i1 %23, label %159, label %194

159:                                              ; preds = %158, %189
  %160 = phi i64 [ %192, %189 ], [ 1, %158 ]
  %161 = phi i64 [ %191, %189 ], [ 0, %158 ]
  %162 = phi i64 [ %180, %189 ], [ 0, %158 ]
  %163 = add nsw i64 %161, 2
  %164 = icmp slt i64 %163, %10
  br i1 %164, label %165, label %179

165:                                              ; preds = %159
  %166 = getelementptr inbounds %struct.item, ptr %14, i64 %163
  %167 = getelementptr inbounds %struct.item, ptr %14, i64 %160
  %168 = load i64, ptr %166, align 8
  %169 = getelementptr inbounds nuw i8, ptr %166, i64 8
  %170 = load i64, ptr %169, align 8
  %171 = load i64, ptr %167, align 8
  %172 = getelementptr inbounds nuw i8, ptr %167, i64 8
  %173 = load i64, ptr %172, align 8
  %174 = icmp eq i64 %168, %171
  %175 = icmp sle i64 %168, %171
  %176 = icmp sge i64 %170, %173
  %177 = select i1 %174, i1 %176, i1 %175
  %178 = select i1 %177, i64 %160, i64 %163
  br label %179

179:                                              ; preds = %165, %159
  %180 = phi i64 [ %160, %159 ], [ %178, %165 ]
  %181 = getelementptr inbounds %struct.item, ptr %14, i64 %180
  %182 = load i64, ptr %181, align 8
  %183 = getelementptr inbounds nuw i8, ptr %181, i64 8
  %184 = load i64, ptr %183, align 8
  %185 = icmp eq i64 %182, %91
  %186 = icmp sle i64 %182, %91
  %187 = icmp sge i64 %184, %92
  %188 = select i1 %185, i1 %187, i1 %186
  br i1 %188, label %194, label %189

189:                                              ; preds = %179
  %190 = getelementptr inbounds %struct.item, ptr %14, i64 %162
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %190, ptr noundef nonnull align 8 dereferenceable(16) %181, i64 16, i1 false)
  %191 = shl nsw i64 %180, 1
  %192 = or disjoint i64 %191, 1
  %193 = icmp slt i64 %192, %10
  br i1 %193, label %159, label %194

194:                                              ; preds = %179, %189, %158
  %195 = phi i64 [ 0, %158 ], [ %180, %189 ], [ %162, %179 ]
  %196 = getelementptr inbounds %struct.item, ptr %14, i64 %195
  store i64 %91, ptr %196, align 8
  %197 = getelementptr inbounds nuw i8, ptr %196, i64 8
  store i64 %92, ptr %197, align 8
  br label %198

198:                                              ; preds = %194, %151, %150
  %199 = add nsw i64 %59, 1
  %200 = icmp slt i64 %199, %8
  br i1 %200, label %36, label %201

201:                                              ; preds = %45, %198, %29
  %202 = load ptr, ptr %25, align 8
  %203 = load ptr, ptr %26, align 8
  %204 = load i64, ptr %203, align 8
  %205 = mul nsw i64 %204, %30
  %206 = getelementptr inbounds i64, ptr %202, i64 %205
  br i1 %27, label %210, label %207

207:                                              ; preds = %260, %214, %201
  %208 = add i64 %30, 1
  %209 = icmp eq i64 %208, %2
  br i1 %209, label %28, label %29

210:                                              ; preds = %201, %260
  %211 = phi i64 [ %219, %260 ], [ %10, %201 ]
  %212 = load i64, ptr %18, align 8
  %213 = icmp eq i64 %211, 1
  br i1 %213, label %214, label %218

214:                                              ; preds = %210
  %215 = sub nsw i64 0, %212
  %216 = getelementptr i64, ptr %206, i64 %211
  %217 = getelementptr i8, ptr %216, i64 -8
  store i64 %215, ptr %217, align 8
  br label %207

218:                                              ; preds = %210
  %219 = add nsw i64 %211, -1
  %220 = getelementptr inbounds nuw %struct.item, ptr %14, i64 %219
  %221 = load i64, ptr %220, align 8
  %222 = getelementptr inbounds nuw i8, ptr %220, i64 8
  %223 = load i64, ptr %222, align 8
  %224 = icmp eq i64 %211, 2
  br i1 %224, label %260, label %225

225:                                              ; preds = %218, %255
  %226 = phi i64 [ %258, %255 ], [ 1, %218 ]
  %227 = phi i64 [ %257, %255 ], [ 0, %218 ]
  %228 = phi i64 [ %246, %255 ], [ 0, %218 ]
  %229 = add nsw i64 %227, 2
  %230 = icmp slt i64 %229, %219
  br i1 %230, label %231, label %245

231:                                              ; preds = %225
  %232 = getelementptr inbounds %struct.item, ptr %14, i64 %229
  %233 = getelementptr inbounds %struct.item, ptr %14, i64 %226
  %234 = load i64, ptr %232, align 8
  %235 = getelementptr inbounds nuw i8, ptr %232, i64 8
  %236 = load i64, ptr %235, align 8
  %237 = load i64, ptr %233, align 8
  %238 = getelementptr inbounds nuw i8, ptr %233, i64 8
  %239 = load i64, ptr %238, align 8
  %240 = icmp eq i64 %234, %237
  %241 = icmp sle i64 %234, %237
  %242 = icmp sge i64 %236, %239
  %243 = select i1 %240, i1 %242, i1 %241
  %244 = select i1 %243, i64 %226, i64 %229
  br label %245

245:                                              ; preds = %231, %225
  %246 = phi i64 [ %226, %225 ], [ %244, %231 ]
  %247 = getelementptr inbounds %struct.item, ptr %14, i64 %246
  %248 = load i64, ptr %247, align 8
  %249 = getelementptr inbounds nuw i8, ptr %247, i64 8
  %250 = load i64, ptr %249, align 8
  %251 = icmp eq i64 %248, %221
  %252 = icmp sle i64 %248, %221
  %253 = icmp sge i64 %250, %223
  %254 = select i1 %251, i1 %253, i1 %252
  br i1 %254, label %260, label %255

255:                                              ; preds = %245
  %256 = getelementptr inbounds %struct.item, ptr %14, i64 %228
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %256, ptr noundef nonnull align 8 dereferenceable(16) %247, i64 16, i1 false)
  %257 = shl nsw i64 %246, 1
  %258 = or disjoint i64 %257, 1
  %259 = icmp slt i64 %258, %219
  br i1 %259, label %225, label %260

260:                                              ; preds = %245, %255, %218
  %261 = phi i64 [ 0, %218 ], [ %228, %245 ], [ %246, %255 ]
  %262 = getelementptr inbounds %struct.item, ptr %14, i64 %261
  store i64 %221, ptr %262, align 8
  %263 = getelementptr inbounds nuw i8, ptr %262, i64 8
  store i64 %223, ptr %263, align 8
  %264 = sub nsw i64 0, %212
  %265 = getelementptr i64, ptr %206, i64 %211
  %266 = getelementptr i8, ptr %265, i64 -8
  store i64 %264, ptr %266, align 8
  %267 = icmp sgt i64 %211, 1
  br i1 %267, label %210, label %207
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define i64 @tw_scatter(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef readnone captures(none) %2) local_unnamed_addr #5 {
  %4 = load ptr, ptr %0, align 8
  %5 = load i64, ptr %1, align 8
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %7 = shl nsw i64 %5, 4
  %8 = getelementptr inbounds i8, ptr %6, i64 %7
  %9 = getelementptr inbounds i64, ptr %6, i64 %5
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = load ptr, ptr %10, align 8
  %12 = load i64, ptr %8, align 8
  %13 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %14 = shl nsw i64 %12, 4
  %15 = getelementptr inbounds i8, ptr %13, i64 %14
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %17 = load ptr, ptr %16, align 8
  %18 = load i64, ptr %15, align 8
  %19 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %20 = shl nsw i64 %18, 4
  %21 = getelementptr inbounds i8, ptr %19, i64 %20
  %22 = getelementptr inbounds i64, ptr %19, i64 %18
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %24 = load ptr, ptr %23, align 8
  %25 = load i64, ptr %21, align 8
  %26 = getelementptr inbounds nuw i8, ptr %21, i64 8
  %27 = shl nsw i64 %25, 4
  %28 = getelementptr inbounds i8, ptr %26, i64 %27
  %29 = getelementptr inbounds i64, ptr %26, i64 %25
  %30 = load i64, ptr %28, align 8
  %31 = load i64, ptr %6, align 8
  %32 = load i64, ptr %13, align 8
  %33 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %34 = load i64, ptr %33, align 8
  %35 = mul nsw i64 %34, %30
  %36 = load i64, ptr %9, align 8
  %37 = mul nsw i64 %36, %30
  %38 = load i64, ptr %29, align 8
  %39 = mul nsw i64 %38, %30
  %40 = icmp sgt i64 %31, 0
  br i1 %40, label %41, label %55

41:                                               ; preds = %3
  %42 = and i64 %31, 1
  %43 = icmp eq i64 %31, 1
  br i1 %43, label %48, label %44

44:                                               ; preds = %41
  %45 = and i64 %31, 9223372036854775806
  br label %57

46:                                               ; preds = %57
  %47 = icmp eq i64 %42, 0
  br i1 %47, label %55, label %48

48:                                               ; preds = %46, %41
  %49 = phi i64 [ 0, %41 ], [ %69, %46 ]
  %50 = icmp ne i64 %42, 0
  tail call void @llvm.assume(i1 %50)
  %51 = mul nsw i64 %49, %39
  %52 = getelementptr inbounds i8, ptr %24, i64 %51
  %53 = mul nsw i64 %37, %49
  %54 = getelementptr inbounds i8, ptr %4, i64 %53
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %52, ptr align 1 %54, i64 %35, i1 false)
  br label %55

55:                                               ; preds = %48, %46, %3
  %56 = icmp sgt i64 %32, 0
  br i1 %56, label %73, label %72

57:                                               ; preds = %57, %44
  %58 = phi i64 [ 0, %44 ], [ %69, %57 ]
  %59 = phi i64 [ 0, %44 ], [ %70, %57 ]
  %60 = mul nsw i64 %58, %39
  %61 = getelementptr inbounds i8, ptr %24, i64 %60
  %62 = mul nsw i64 %37, %58
  %63 = getelementptr inbounds i8, ptr %4, i64 %62
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %61, ptr align 1 %63, i64 %35, i1 false)
  %64 = or disjoint i64 %58, 1
  %65 = mul nsw i64 %64, %39
  %66 = getelementptr inbounds i8, ptr %24, i64 %65
  %67 = mul nsw i64 %37, %64
  %68 = getelementptr inbounds i8, ptr %4, i64 %67
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %66, ptr align 1 %68, i64 %35, i1 false)
  %69 = add nuw nsw i64 %58, 2
  %70 = add i64 %59, 2
  %71 = icmp eq i64 %70, %45
  br i1 %71, label %46, label %57

72:                                               ; preds = %87, %55
  ret i64 %32

73:                                               ; preds = %55, %87
  %74 = phi i64 [ %88, %87 ], [ 0, %55 ]
  %75 = getelementptr inbounds nuw i64, ptr %11, i64 %74
  %76 = load i64, ptr %75, align 8
  %77 = icmp sgt i64 %76, -1
  %78 = icmp slt i64 %76, %31
  %79 = and i1 %77, %78
  br i1 %79, label %80, label %87

80:                                               ; preds = %73
  %81 = load i64, ptr %22, align 8
  %82 = mul i64 %74, %30
  %83 = mul i64 %82, %81
  %84 = getelementptr inbounds i8, ptr %17, i64 %83
  %85 = mul nsw i64 %76, %39
  %86 = getelementptr inbounds i8, ptr %24, i64 %85
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %86, ptr align 1 %84, i64 %35, i1 false)
  br label %87

87:                                               ; preds = %80, %73
  %88 = add nuw nsw i64 %74, 1
  %89 = icmp eq i64 %88, %32
  br i1 %89, label %72, label %73
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define i64 @tw_number(ptr noundef readonly captures(none) %0, ptr noundef readnone captures(none) %1, ptr noundef readnone captures(none) %2) local_unnamed_addr #7 {
  %4 = load ptr, ptr %0, align 8
  %5 = load i64, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %7 = load ptr, ptr %6, align 8
  store i64 %5, ptr %7, align 8
  ret i64 %5
}

; Function Attrs: nounwind
declare i32 @getpid() local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #8

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
declare void @llvm.x86.sse2.pause() #9

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
define internal noalias noundef nonnull ptr @worker(ptr noundef %0) #10 {
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
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #9
  %15 = getelementptr inbounds nuw i8, ptr %13, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(144) %15, i8 0, i64 144, i1 false)
  store ptr %0, ptr %13, align 8
  %16 = getelementptr inbounds nuw i8, ptr %13, i64 136
  store i64 -1, ptr %16, align 8
  %17 = getelementptr inbounds nuw i8, ptr %13, i64 144
  store i32 -1, ptr %17, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #9
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %14, ptr noundef nonnull align 8 dereferenceable(16) @__const.worker.caller, i64 16, i1 false)
  %18 = load i32, ptr @key, align 4
  %19 = call i32 @pthread_setspecific(i32 noundef %18, ptr noundef nonnull %14) #9
  call void @llvm.lifetime.start.p0(ptr nonnull %12)
  call void @llvm.x86.sse.stmxcsr(ptr nonnull %12)
  %20 = load i32, ptr %12, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %12)
  %21 = or i32 %20, 32832
  call void @llvm.lifetime.start.p0(ptr nonnull %11)
  store i32 %21, ptr %11, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr nonnull %11)
  call void @llvm.lifetime.end.p0(ptr nonnull %11)
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #9
  %22 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #9
  %23 = load i64, ptr %10, align 8
  %24 = mul nsw i64 %23, 1000000000
  %25 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %26 = load i64, ptr %25, align 8
  %27 = add nsw i64 %24, %26
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #9
  %28 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 384
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 4
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 896
  %34 = getelementptr inbounds nuw i8, ptr %13, i64 148
  %35 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %36 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %37 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %38 = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %39

39:                                               ; preds = %303, %1
  %40 = phi i32 [ 1, %1 ], [ %305, %303 ]
  %41 = phi i64 [ %27, %1 ], [ %304, %303 ]
  %42 = load atomic i32, ptr %29 monotonic, align 128
  %43 = load atomic i32, ptr %30 monotonic, align 128
  %44 = add nsw i32 %43, %42
  %45 = load i32, ptr %31, align 4
  %46 = icmp slt i32 %44, %45
  br i1 %46, label %47, label %203

47:                                               ; preds = %39
  %48 = load atomic i32, ptr %32 acquire, align 8
  %49 = icmp sgt i32 %48, 0
  br i1 %49, label %50, label %203

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
  br i1 %67, label %203, label %52

68:                                               ; preds = %60
  %69 = load ptr, ptr %13, align 8
  %70 = getelementptr inbounds nuw i8, ptr %54, i64 56
  %71 = load atomic i32, ptr %70 monotonic, align 8
  store i32 %71, ptr %17, align 8
  %72 = call i32 @sched_getcpu() #9
  %73 = icmp eq i32 %72, %71
  br i1 %73, label %74, label %92

74:                                               ; preds = %68
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #9
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
  %87 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %9) #9
  %88 = icmp sgt i32 %87, 0
  br i1 %88, label %89, label %91

89:                                               ; preds = %86
  %90 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %9) #9
  br label %91

91:                                               ; preds = %89, %86
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #9
  store i32 1, ptr %34, align 4
  br label %92

92:                                               ; preds = %91, %68
  %93 = load atomic i64, ptr %54 seq_cst, align 128
  %94 = lshr i64 %93, 32
  %95 = getelementptr inbounds nuw i8, ptr %69, i64 896
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
  %106 = trunc nuw i64 %105 to i32
  %107 = trunc i64 %104 to i32
  %108 = lshr i32 %107, 16
  %109 = zext nneg i32 %108 to i64
  br label %110

110:                                              ; preds = %117, %92
  %111 = phi i64 [ %104, %92 ], [ %121, %117 ]
  %112 = lshr i64 %111, 32
  %113 = icmp eq i64 %112, %105
  %114 = and i64 %111, 65535
  %115 = icmp samesign ult i64 %114, %109
  %116 = select i1 %113, i1 %115, i1 false
  br i1 %116, label %117, label %186

117:                                              ; preds = %110
  %118 = add i64 %111, 1
  %119 = cmpxchg weak ptr %54, i64 %111, i64 %118 acq_rel acquire, align 128
  %120 = extractvalue { i64, i1 } %119, 1
  %121 = extractvalue { i64, i1 } %119, 0
  br i1 %120, label %122, label %110

122:                                              ; preds = %117
  %123 = trunc i64 %111 to i32
  %124 = and i32 %123, 65535
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #9
  %125 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #9
  %126 = load i64, ptr %8, align 8
  %127 = mul nsw i64 %126, 1000000000
  %128 = load i64, ptr %35, align 8
  %129 = add nsw i64 %127, %128
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #9
  %130 = icmp slt i64 %103, 0
  %131 = add nuw nsw i32 %124, 1
  %132 = icmp samesign ult i32 %131, %108
  %133 = select i1 %130, i1 %132, i1 false
  br i1 %133, label %134, label %144

134:                                              ; preds = %122
  %135 = getelementptr inbounds nuw i8, ptr %69, i64 512
  %136 = load atomic i32, ptr %135 seq_cst, align 128
  %137 = icmp sgt i32 %136, 0
  br i1 %137, label %138, label %144

138:                                              ; preds = %134
  %139 = getelementptr inbounds nuw i8, ptr %69, i64 644
  %140 = call i32 @sched_getcpu() #9
  store atomic i32 %140, ptr %139 monotonic, align 4
  %141 = getelementptr inbounds nuw i8, ptr %69, i64 640
  %142 = atomicrmw add ptr %141, i32 1 seq_cst, align 128
  %143 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %141, i32 noundef 129, i32 noundef range(i32 1, 3) 2, ptr noundef null, ptr noundef null, i32 noundef 0) #9
  br label %144

144:                                              ; preds = %138, %134, %122
  %145 = call fastcc i32 @take_steps(ptr noundef nonnull %54, i32 noundef %106, i32 noundef %108, i32 noundef %124, ptr noundef %69)
  %146 = icmp eq i32 %145, 0
  br i1 %146, label %186, label %147

147:                                              ; preds = %144
  %148 = getelementptr inbounds nuw i8, ptr %54, i64 40
  %149 = load i32, ptr %148, align 8
  %150 = getelementptr inbounds nuw i8, ptr %54, i64 48
  %151 = load atomic i64, ptr %150 monotonic, align 16
  %152 = sub i64 %129, %151
  br i1 %130, label %153, label %163

153:                                              ; preds = %147
  %154 = getelementptr inbounds nuw i8, ptr %69, i64 168
  %155 = load atomic i64, ptr %154 monotonic, align 8
  %156 = shl nsw i64 %155, 3
  %157 = icmp sgt i64 %152, %156
  br i1 %157, label %175, label %158

158:                                              ; preds = %153
  %159 = sub nsw i64 %152, %155
  %160 = sdiv i64 %159, 8
  %161 = add nsw i64 %160, %155
  %162 = call i64 @llvm.smax.i64(i64 %161, i64 50)
  store atomic i64 %162, ptr %154 monotonic, align 8
  br label %175

163:                                              ; preds = %147
  %164 = icmp slt i64 %103, %151
  br i1 %164, label %165, label %175

165:                                              ; preds = %163
  %166 = getelementptr inbounds nuw i8, ptr %69, i64 160
  %167 = load atomic i64, ptr %166 monotonic, align 8
  %168 = shl nsw i64 %167, 3
  %169 = icmp sgt i64 %152, %168
  br i1 %169, label %175, label %170

170:                                              ; preds = %165
  %171 = sub nsw i64 %152, %167
  %172 = sdiv i64 %171, 8
  %173 = add nsw i64 %172, %167
  %174 = call i64 @llvm.smax.i64(i64 %173, i64 50)
  store atomic i64 %174, ptr %166 monotonic, align 8
  br label %175

175:                                              ; preds = %170, %165, %163, %158, %153
  %176 = getelementptr inbounds nuw i8, ptr %54, i64 128
  %177 = atomicrmw add ptr %176, i32 %145 acq_rel, align 128
  %178 = and i32 %177, 1073741824
  %179 = icmp eq i32 %178, 0
  br i1 %179, label %186, label %180

180:                                              ; preds = %175
  %181 = and i32 %177, -1073741825
  %182 = add i32 %181, %145
  %183 = icmp eq i32 %182, %149
  br i1 %183, label %184, label %186

184:                                              ; preds = %180
  %185 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %176, i32 noundef 129, i32 noundef 1, ptr noundef null, ptr noundef null, i32 noundef 0) #9
  br label %186

186:                                              ; preds = %110, %184, %180, %175, %144
  %187 = atomicrmw sub ptr %101, i32 1 monotonic, align 128
  %188 = load i32, ptr %34, align 4
  %189 = icmp eq i32 %188, 0
  br i1 %189, label %197, label %190

190:                                              ; preds = %186
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #9
  %191 = getelementptr inbounds nuw i8, ptr %69, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %7, ptr noundef nonnull readonly align 8 dereferenceable(128) %191, i64 128, i1 false)
  %192 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %7) #9
  %193 = icmp sgt i32 %192, 0
  br i1 %193, label %194, label %196

194:                                              ; preds = %190
  %195 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %7) #9
  br label %196

196:                                              ; preds = %194, %190
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #9
  br label %197

197:                                              ; preds = %186, %196
  store i32 0, ptr %34, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #9
  %198 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %6) #9
  %199 = load i64, ptr %6, align 8
  %200 = mul nsw i64 %199, 1000000000
  %201 = load i64, ptr %36, align 8
  %202 = add nsw i64 %200, %201
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #9
  store i64 %202, ptr %16, align 8
  br label %303

203:                                              ; preds = %65, %39, %47
  call void @llvm.x86.sse2.pause()
  %204 = and i32 %40, 15
  %205 = icmp eq i32 %204, 0
  br i1 %205, label %206, label %303

206:                                              ; preds = %203
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #9
  %207 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %5) #9
  %208 = load i64, ptr %5, align 8
  %209 = mul nsw i64 %208, 1000000000
  %210 = load i64, ptr %37, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #9
  %211 = sub i64 %210, %41
  %212 = add i64 %211, %209
  %213 = icmp slt i64 %212, 100000
  br i1 %213, label %303, label %214

214:                                              ; preds = %206
  %215 = load ptr, ptr %13, align 8
  %216 = getelementptr inbounds nuw i8, ptr %215, i64 640
  %217 = load atomic i32, ptr %216 seq_cst, align 128
  %218 = load ptr, ptr %13, align 8
  %219 = load i32, ptr %17, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #9
  %220 = getelementptr inbounds nuw i8, ptr %218, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %4, ptr noundef nonnull readonly align 8 dereferenceable(128) %220, i64 128, i1 false)
  %221 = icmp ult i32 %219, 1024
  br i1 %221, label %222, label %231

222:                                              ; preds = %214
  %223 = zext nneg i32 %219 to i64
  %224 = and i64 %223, 63
  %225 = shl nuw i64 1, %224
  %226 = xor i64 %225, -1
  %227 = lshr i64 %223, 6
  %228 = getelementptr inbounds nuw i64, ptr %4, i64 %227
  %229 = load i64, ptr %228, align 8
  %230 = and i64 %229, %226
  store i64 %230, ptr %228, align 8
  br label %231

231:                                              ; preds = %222, %214
  %232 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %4) #9
  %233 = icmp sgt i32 %232, 0
  br i1 %233, label %234, label %236

234:                                              ; preds = %231
  %235 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %4) #9
  br label %236

236:                                              ; preds = %234, %231
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #9
  store i32 1, ptr %34, align 4
  %237 = getelementptr inbounds nuw i8, ptr %215, i64 512
  %238 = atomicrmw add ptr %237, i32 1 seq_cst, align 128
  %239 = getelementptr inbounds nuw i8, ptr %215, i64 256
  %240 = load atomic i32, ptr %239 monotonic, align 128
  %241 = getelementptr inbounds nuw i8, ptr %215, i64 384
  %242 = load atomic i32, ptr %241 monotonic, align 128
  %243 = add nsw i32 %242, %240
  %244 = getelementptr inbounds nuw i8, ptr %215, i64 4
  %245 = load i32, ptr %244, align 4
  %246 = icmp slt i32 %243, %245
  br i1 %246, label %247, label %270

247:                                              ; preds = %236
  %248 = getelementptr inbounds nuw i8, ptr %215, i64 152
  %249 = load atomic i32, ptr %248 acquire, align 8
  %250 = icmp sgt i32 %249, 0
  br i1 %250, label %251, label %270

251:                                              ; preds = %247
  %252 = getelementptr inbounds nuw i8, ptr %215, i64 896
  %253 = zext nneg i32 %249 to i64
  br label %254

254:                                              ; preds = %267, %251
  %255 = phi i64 [ 0, %251 ], [ %268, %267 ]
  %256 = getelementptr inbounds nuw %struct.region, ptr %252, i64 %255
  %257 = load atomic i64, ptr %256 acquire, align 128
  %258 = lshr i64 %257, 32
  %259 = getelementptr inbounds nuw i64, ptr %28, i64 %255
  %260 = load i64, ptr %259, align 8
  %261 = icmp eq i64 %258, %260
  br i1 %261, label %267, label %262

262:                                              ; preds = %254
  %263 = and i64 %257, 65535
  %264 = lshr i64 %257, 16
  %265 = and i64 %264, 65535
  %266 = icmp samesign ult i64 %263, %265
  br i1 %266, label %272, label %267

267:                                              ; preds = %262, %254
  %268 = add nuw nsw i64 %255, 1
  %269 = icmp eq i64 %268, %253
  br i1 %269, label %270, label %254

270:                                              ; preds = %267, %247, %236
  %271 = call i64 (i64, ...) @syscall(i64 noundef 202, ptr noundef nonnull %216, i32 noundef 128, i32 noundef %217, ptr noundef null, ptr noundef null, i32 noundef 0) #9
  br label %272

272:                                              ; preds = %262, %270
  %273 = atomicrmw sub ptr %237, i32 1 seq_cst, align 128
  %274 = getelementptr inbounds nuw i8, ptr %215, i64 644
  %275 = load atomic i32, ptr %274 monotonic, align 4
  store i32 %275, ptr %17, align 8
  %276 = call i32 @sched_getcpu() #9
  %277 = icmp eq i32 %276, %275
  br i1 %277, label %278, label %297

278:                                              ; preds = %272
  %279 = load ptr, ptr %13, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #9
  %280 = getelementptr inbounds nuw i8, ptr %279, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %3, ptr noundef nonnull readonly align 8 dereferenceable(128) %280, i64 128, i1 false)
  %281 = icmp ult i32 %275, 1024
  br i1 %281, label %282, label %291

282:                                              ; preds = %278
  %283 = zext nneg i32 %275 to i64
  %284 = and i64 %283, 63
  %285 = shl nuw i64 1, %284
  %286 = xor i64 %285, -1
  %287 = lshr i64 %283, 6
  %288 = getelementptr inbounds nuw i64, ptr %3, i64 %287
  %289 = load i64, ptr %288, align 8
  %290 = and i64 %289, %286
  store i64 %290, ptr %288, align 8
  br label %291

291:                                              ; preds = %282, %278
  %292 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %3) #9
  %293 = icmp sgt i32 %292, 0
  br i1 %293, label %294, label %296

294:                                              ; preds = %291
  %295 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %3) #9
  br label %296

296:                                              ; preds = %294, %291
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #9
  store i32 1, ptr %34, align 4
  br label %297

297:                                              ; preds = %272, %296
  store i64 -1, ptr %16, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %2) #9
  %298 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %2) #9
  %299 = load i64, ptr %2, align 8
  %300 = mul nsw i64 %299, 1000000000
  %301 = load i64, ptr %38, align 8
  %302 = add nsw i64 %300, %301
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #9
  br label %303

303:                                              ; preds = %203, %206, %297, %197
  %304 = phi i64 [ %202, %197 ], [ %302, %297 ], [ %41, %206 ], [ %41, %203 ]
  %305 = add i32 %40, 1
  br label %39
}

; Function Attrs: nounwind
declare i32 @pthread_attr_destroy(ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @sched_getcpu() local_unnamed_addr #3

; Function Attrs: nounwind
define internal fastcc i32 @take_steps(ptr noundef nonnull captures(none) %0, i32 noundef %1, i32 noundef range(i32 0, 65536) %2, i32 noundef range(i32 0, 65536) %3, ptr noundef readonly captures(address_is_null) %4) unnamed_addr #1 {
  %6 = icmp eq i32 %2, 0
  br i1 %6, label %92, label %7

7:                                                ; preds = %5
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 384
  %9 = zext i32 %1 to i64
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %11 = zext nneg i32 %2 to i128
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 44
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %16 = zext nneg i32 %3 to i64
  %17 = icmp eq ptr %4, null
  %18 = getelementptr inbounds nuw i8, ptr %4, i64 256
  %19 = getelementptr inbounds nuw i8, ptr %4, i64 384
  %20 = getelementptr inbounds nuw i8, ptr %4, i64 4
  br label %21

21:                                               ; preds = %7, %89
  %22 = phi i32 [ 0, %7 ], [ %36, %89 ]
  %23 = phi i32 [ 0, %7 ], [ %90, %89 ]
  %24 = add nuw nsw i32 %23, %3
  %25 = urem i32 %24, %2
  %26 = zext nneg i32 %25 to i64
  %27 = getelementptr inbounds nuw %struct.steps, ptr %8, i64 %26
  %28 = load atomic i64, ptr %27 acquire, align 8
  %29 = zext nneg i32 %25 to i128
  %30 = add nuw nsw i32 %25, 1
  %31 = zext nneg i32 %30 to i128
  br label %32

32:                                               ; preds = %87, %21
  %33 = phi i64 [ %61, %87 ], [ -1, %21 ]
  %34 = phi i64 [ %62, %87 ], [ 0, %21 ]
  %35 = phi i64 [ %88, %87 ], [ %28, %21 ]
  %36 = phi i32 [ %80, %87 ], [ %22, %21 ]
  br label %37

37:                                               ; preds = %32, %44
  %38 = phi i64 [ %48, %44 ], [ %35, %32 ]
  %39 = lshr i64 %38, 32
  %40 = icmp ne i64 %39, %9
  %41 = and i64 %38, 4294967295
  %42 = icmp eq i64 %41, 0
  %43 = or i1 %40, %42
  br i1 %43, label %89, label %44

44:                                               ; preds = %37
  %45 = add i64 %38, -1
  %46 = cmpxchg weak ptr %27, i64 %38, i64 %45 acq_rel acquire, align 8
  %47 = extractvalue { i64, i1 } %46, 1
  %48 = extractvalue { i64, i1 } %46, 0
  br i1 %47, label %49, label %37

49:                                               ; preds = %44
  %50 = icmp slt i64 %33, 0
  br i1 %50, label %51, label %60

51:                                               ; preds = %49
  %52 = load i64, ptr %10, align 8
  %53 = sext i64 %52 to i128
  %54 = mul nsw i128 %53, %29
  %55 = sdiv i128 %54, %11
  %56 = trunc i128 %55 to i64
  %57 = mul nsw i128 %53, %31
  %58 = sdiv i128 %57, %11
  %59 = trunc i128 %58 to i64
  br label %60

60:                                               ; preds = %51, %49
  %61 = phi i64 [ %59, %51 ], [ %33, %49 ]
  %62 = phi i64 [ %56, %51 ], [ %34, %49 ]
  %63 = load i64, ptr %12, align 32
  %64 = xor i64 %62, -1
  %65 = add i64 %61, %64
  %66 = add i64 %65, %63
  %67 = sdiv i64 %66, %63
  %68 = load i32, ptr %13, align 4
  %69 = icmp eq i32 %68, 0
  %70 = add i64 %38, 4294967295
  %71 = sub i64 %67, %38
  %72 = select i1 %69, i64 %71, i64 %70
  %73 = and i64 %72, 4294967295
  %74 = mul nsw i64 %73, %63
  %75 = add nsw i64 %74, %62
  %76 = add nsw i64 %75, %63
  %77 = tail call i64 @llvm.smin.i64(i64 %76, i64 %61)
  %78 = load ptr, ptr %14, align 8
  %79 = load ptr, ptr %15, align 16
  tail call void %78(ptr noundef %79, i64 noundef %75, i64 noundef %77, i64 noundef %16) #9
  %80 = add i32 %36, 1
  br i1 %17, label %87, label %81

81:                                               ; preds = %60
  %82 = load atomic i32, ptr %18 monotonic, align 128
  %83 = load atomic i32, ptr %19 monotonic, align 128
  %84 = add nsw i32 %83, %82
  %85 = load i32, ptr %20, align 4
  %86 = icmp sgt i32 %84, %85
  br i1 %86, label %92, label %87

87:                                               ; preds = %60, %81
  %88 = load atomic i64, ptr %27 acquire, align 8
  br label %32

89:                                               ; preds = %37
  %90 = add nuw nsw i32 %23, 1
  %91 = icmp eq i32 %90, %2
  br i1 %91, label %92, label %21

92:                                               ; preds = %89, %81, %5
  %93 = phi i32 [ %80, %81 ], [ 0, %5 ], [ %36, %89 ]
  ret i32 %93
}

; Function Attrs: nounwind
declare i64 @syscall(i64 noundef, ...) local_unnamed_addr #3

; Function Attrs: nounwind
declare i32 @sched_setaffinity(i32 noundef, i64 noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: nounwind memory(argmem: write)
declare void @llvm.x86.sse.stmxcsr(ptr) #11

; Function Attrs: nounwind
declare void @llvm.x86.sse.ldmxcsr(ptr) #9

; Function Attrs: nounwind
declare i32 @clock_gettime(i32 noundef, ptr noundef) local_unnamed_addr #3

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: read)
define internal i64 @skip_below(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, float noundef %3) unnamed_addr #12 {
  %5 = insertelement <4 x float> poison, float %3, i64 0
  %6 = shufflevector <4 x float> %5, <4 x float> poison, <4 x i32> zeroinitializer
  br label %7

7:                                                ; preds = %11, %4
  %8 = phi i64 [ %1, %4 ], [ %9, %11 ]
  %9 = add nsw i64 %8, 32
  %10 = icmp sgt i64 %9, %2
  br i1 %10, label %45, label %11

11:                                               ; preds = %7
  %12 = getelementptr float, ptr %0, i64 %8
  %13 = getelementptr i8, ptr %12, i64 16
  %14 = load <4 x float>, ptr %12, align 4
  %15 = load <4 x float>, ptr %13, align 4
  %16 = fcmp ugt <4 x float> %14, %6
  %17 = fcmp ugt <4 x float> %15, %6
  %18 = getelementptr i8, ptr %12, i64 32
  %19 = getelementptr i8, ptr %12, i64 48
  %20 = load <4 x float>, ptr %18, align 4
  %21 = load <4 x float>, ptr %19, align 4
  %22 = fcmp ugt <4 x float> %20, %6
  %23 = fcmp ugt <4 x float> %21, %6
  %24 = or <4 x i1> %16, %22
  %25 = or <4 x i1> %17, %23
  %26 = getelementptr i8, ptr %12, i64 64
  %27 = getelementptr i8, ptr %12, i64 80
  %28 = load <4 x float>, ptr %26, align 4
  %29 = load <4 x float>, ptr %27, align 4
  %30 = fcmp ugt <4 x float> %28, %6
  %31 = fcmp ugt <4 x float> %29, %6
  %32 = or <4 x i1> %24, %30
  %33 = or <4 x i1> %25, %31
  %34 = getelementptr i8, ptr %12, i64 96
  %35 = getelementptr i8, ptr %12, i64 112
  %36 = load <4 x float>, ptr %34, align 4
  %37 = load <4 x float>, ptr %35, align 4
  %38 = fcmp ugt <4 x float> %36, %6
  %39 = fcmp ugt <4 x float> %37, %6
  %40 = or <4 x i1> %32, %38
  %41 = or <4 x i1> %33, %39
  %42 = or <4 x i1> %41, %40
  %43 = bitcast <4 x i1> %42 to i4
  %44 = icmp eq i4 %43, 0
  br i1 %44, label %7, label %45

45:                                               ; preds = %11, %7
  ret i64 %8
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: read)
define internal i64 @skip_above(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, float noundef %3) unnamed_addr #12 {
  %5 = insertelement <4 x float> poison, float %3, i64 0
  %6 = shufflevector <4 x float> %5, <4 x float> poison, <4 x i32> zeroinitializer
  br label %7

7:                                                ; preds = %11, %4
  %8 = phi i64 [ %1, %4 ], [ %9, %11 ]
  %9 = add nsw i64 %8, 32
  %10 = icmp sgt i64 %9, %2
  br i1 %10, label %45, label %11

11:                                               ; preds = %7
  %12 = getelementptr float, ptr %0, i64 %8
  %13 = getelementptr i8, ptr %12, i64 16
  %14 = load <4 x float>, ptr %12, align 4
  %15 = load <4 x float>, ptr %13, align 4
  %16 = fcmp ult <4 x float> %14, %6
  %17 = fcmp ult <4 x float> %15, %6
  %18 = getelementptr i8, ptr %12, i64 32
  %19 = getelementptr i8, ptr %12, i64 48
  %20 = load <4 x float>, ptr %18, align 4
  %21 = load <4 x float>, ptr %19, align 4
  %22 = fcmp ult <4 x float> %20, %6
  %23 = fcmp ult <4 x float> %21, %6
  %24 = or <4 x i1> %16, %22
  %25 = or <4 x i1> %17, %23
  %26 = getelementptr i8, ptr %12, i64 64
  %27 = getelementptr i8, ptr %12, i64 80
  %28 = load <4 x float>, ptr %26, align 4
  %29 = load <4 x float>, ptr %27, align 4
  %30 = fcmp ult <4 x float> %28, %6
  %31 = fcmp ult <4 x float> %29, %6
  %32 = or <4 x i1> %24, %30
  %33 = or <4 x i1> %25, %31
  %34 = getelementptr i8, ptr %12, i64 96
  %35 = getelementptr i8, ptr %12, i64 112
  %36 = load <4 x float>, ptr %34, align 4
  %37 = load <4 x float>, ptr %35, align 4
  %38 = fcmp ult <4 x float> %36, %6
  %39 = fcmp ult <4 x float> %37, %6
  %40 = or <4 x i1> %32, %38
  %41 = or <4 x i1> %33, %39
  %42 = or <4 x i1> %41, %40
  %43 = bitcast <4 x i1> %42 to i4
  %44 = icmp eq i4 %43, 0
  br i1 %44, label %7, label %45

45:                                               ; preds = %11, %7
  ret i64 %8
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smin.i64(i64, i64) #13

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smin.i32(i32, i32) #13

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #13

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) #14

attributes #0 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: none, inaccessiblemem: none, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #1 = { nounwind "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { nounwind "no-trapping-math"="true" }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #6 = { nofree norecurse nounwind memory(readwrite, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #7 = { mustprogress nofree norecurse nosync nounwind willreturn memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #8 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #9 = { nounwind }
attributes #10 = { noreturn nounwind "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #11 = { nounwind memory(argmem: write) }
attributes #12 = { nofree norecurse nosync nounwind memory(argmem: read) "min-legal-vector-width"="0" "no-trapping-math"="true" }
attributes #13 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #14 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }


