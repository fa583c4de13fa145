
%struct.tw_caller = type { i32, i32, ptr }
%struct.tw_loop = type { i64, i64, ptr, ptr }
%struct.timespec = type { i64, i64 }
%struct.__sigset_t = type { [16 x i64] }
%union.pthread_attr_t = type { i64, [56 x i8] }
%struct.steps = type { i64, [120 x i8] }
%struct.tw_extent = type { i64, i64, i64 }
%struct.tw_size = type { i64, i64, i64, i64, i64 }
%struct.suppression = type { %struct.array, %struct.array, float, float, i64, i64, i64, ptr, ptr, ptr, i64 }
%struct.array = type { ptr, i64, ptr, ptr }
%struct.item = type { i64, i64 }
%struct.box = type { float, float, float, float, float }
%struct.rows = type { %struct.array, i64 }
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
  %9 = tail call ptr @pthread_getspecific(i32 noundef %8) #12
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
  %16 = tail call i32 @pthread_setspecific(i32 noundef %15, ptr noundef nonnull %0) #12
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
  %5 = tail call ptr @mmap(ptr noundef null, i64 noundef 531328, i32 noundef 3, i32 noundef 34, i32 noundef -1, i64 noundef 0) #12
  %6 = icmp eq ptr %5, inttoptr (i64 -1 to ptr)
  br i1 %6, label %75, label %7

7:                                                ; preds = %4
  %8 = tail call i32 @madvise(ptr noundef %5, i64 noundef 531328, i32 noundef 18) #12
  %9 = icmp ne i32 %8, 0
  %10 = zext i1 %9 to i32
  call void @llvm.lifetime.start.p0(ptr nonnull %1) #12
  %11 = call i32 @pthread_key_create(ptr noundef nonnull %1, ptr noundef null) #12
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %15, label %13

13:                                               ; preds = %7
  %14 = call i32 @munmap(ptr noundef %5, i64 noundef 531328) #12
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #12
  br label %75

15:                                               ; preds = %7
  %16 = atomicrmw xchg ptr @new_pool.claimed, i32 1 seq_cst, align 4
  %17 = icmp eq i32 %16, 0
  %18 = load i32, ptr %1, align 4
  br i1 %17, label %29, label %19

19:                                               ; preds = %15
  %20 = call i32 @pthread_key_delete(i32 noundef %18) #12
  %21 = call i32 @munmap(ptr noundef %5, i64 noundef 531328) #12
  %22 = load atomic i64, ptr @the_pool seq_cst, align 8
  %23 = icmp eq i64 %22, 0
  br i1 %23, label %24, label %27

24:                                               ; preds = %19, %24
  call void asm sideeffect "yield", ""() #12
  %25 = load atomic i64, ptr @the_pool seq_cst, align 8
  %26 = icmp eq i64 %25, 0
  br i1 %26, label %24, label %27

27:                                               ; preds = %24, %19
  %28 = phi i64 [ %22, %19 ], [ %25, %24 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #12
  br label %32

29:                                               ; preds = %15
  store i32 %18, ptr @key, align 4
  store i32 %10, ptr @inherited, align 4
  %30 = ptrtoint ptr %5 to i64
  store atomic i64 %30, ptr @the_pool seq_cst, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %1) #12
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
  %45 = call i32 @getpid() #12
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
  %56 = call i32 @sched_getaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %55) #12
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %58, label %60

58:                                               ; preds = %54
  %59 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %55) #12
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
  %68 = call i32 @getpid() #12
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
  %7 = tail call ptr @pthread_getspecific(i32 noundef %6) #12
  %8 = icmp eq ptr %7, %0
  br i1 %8, label %9, label %19

9:                                                ; preds = %5
  %10 = load i32, ptr @key, align 4
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %12 = load ptr, ptr %11, align 8
  %13 = tail call i32 @pthread_setspecific(i32 noundef %10, ptr noundef %12) #12
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
  call void @llvm.lifetime.start.p0(ptr nonnull %18) #12
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %18, ptr noundef nonnull align 8 dereferenceable(16) @__const.tw_parallel.unknown, i64 16, i1 false)
  %19 = tail call fastcc ptr @ready_pool()
  %20 = icmp eq ptr %19, null
  br i1 %20, label %48, label %21

21:                                               ; preds = %6
  %22 = load i32, ptr @key, align 4
  %23 = tail call ptr @pthread_getspecific(i32 noundef %22) #12
  %24 = icmp eq ptr %23, null
  br i1 %24, label %25, label %28

25:                                               ; preds = %21
  %26 = load i32, ptr @key, align 4
  %27 = call i32 @pthread_setspecific(i32 noundef %26, ptr noundef nonnull %18) #12
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
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #12
  store i32 %53, ptr %52, align 4
  br label %654

54:                                               ; preds = %43
  call void @llvm.lifetime.start.p0(ptr nonnull %17) #12
  %55 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %17) #12
  %56 = load i64, ptr %17, align 8
  %57 = mul nsw i64 %56, 1000000000
  %58 = getelementptr inbounds nuw i8, ptr %17, i64 8
  %59 = load i64, ptr %58, align 8
  %60 = add nsw i64 %57, %59
  call void @llvm.lifetime.end.p0(ptr nonnull %17) #12
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
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #12
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #12
  call void @llvm.lifetime.start.p0(ptr nonnull %15) #12
  %94 = call i32 @sigfillset(ptr noundef nonnull %13) #12
  %95 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %13, ptr noundef nonnull %14) #12
  %96 = call i32 @pthread_attr_init(ptr noundef nonnull %15) #12
  %97 = call i32 @pthread_attr_setdetachstate(ptr noundef nonnull %15, i32 noundef 1) #12
  call void @llvm.lifetime.start.p0(ptr nonnull %16) #12
  %98 = load atomic i32, ptr %86 seq_cst, align 4
  %99 = icmp slt i32 %98, %85
  br i1 %99, label %100, label %112

100:                                              ; preds = %93, %108
  %101 = phi i32 [ %109, %108 ], [ %85, %93 ]
  %102 = call i32 @pthread_create(ptr noundef nonnull %16, ptr noundef nonnull %15, ptr noundef nonnull @worker, ptr noundef nonnull %19) #12
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
  %113 = call i32 @pthread_attr_destroy(ptr noundef nonnull %15) #12
  %114 = call i32 @pthread_sigmask(i32 noundef 2, ptr noundef nonnull %14, ptr noundef null) #12
  store atomic i32 0, ptr %90 seq_cst, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %16) #12
  call void @llvm.lifetime.end.p0(ptr nonnull %15) #12
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #12
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #12
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
  call void %0(ptr noundef %1, i64 noundef 0, i64 noundef %2, i64 noundef 0) #12
  store i32 %318, ptr %45, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #12
  %319 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %12) #12
  %320 = load i64, ptr %12, align 8
  %321 = mul nsw i64 %320, 1000000000
  %322 = getelementptr inbounds nuw i8, ptr %12, i64 8
  %323 = load i64, ptr %322, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #12
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
  %365 = call i32 @sched_getcpu() #12
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
  %404 = call i32 @sched_getcpu() #12
  store atomic i32 %404, ptr %403 monotonic, align 4
  %405 = getelementptr inbounds nuw i8, ptr %19, i64 640
  %406 = atomicrmw add ptr %405, i32 1 seq_cst, align 128
  %407 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %405, i32 noundef 129, i32 noundef range(i32 1, 3) %156, ptr noundef null, ptr noundef null, i32 noundef 0) #12
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #12
  %408 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %11) #12
  %409 = load i64, ptr %11, align 8
  %410 = mul nsw i64 %409, 1000000000
  %411 = getelementptr inbounds nuw i8, ptr %11, i64 8
  %412 = load i64, ptr %411, align 8
  %413 = add nsw i64 %410, %412
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #12
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
  call void %476(ptr noundef %477, i64 noundef %473, i64 noundef %475, i64 noundef 0) #12
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
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #12
  %485 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #12
  %486 = load i64, ptr %10, align 8
  %487 = mul nsw i64 %486, 1000000000
  %488 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %489 = load i64, ptr %488, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #12
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
  call void asm sideeffect "yield", ""() #12
  %517 = and i32 %512, 15
  %518 = icmp eq i32 %517, 0
  br i1 %518, label %519, label %539

519:                                              ; preds = %516
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #12
  %520 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %9) #12
  %521 = load i64, ptr %9, align 8
  %522 = mul nsw i64 %521, 1000000000
  %523 = load i64, ptr %508, align 8
  %524 = add nsw i64 %522, %523
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #12
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
  %538 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %366, i32 noundef 128, i32 noundef %537, ptr noundef null, ptr noundef null, i32 noundef 0) #12
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
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #12
  %548 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #12
  %549 = load i64, ptr %8, align 8
  %550 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %551 = load i64, ptr %550, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #12
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
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #12
  %568 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %7) #12
  %569 = load i64, ptr %7, align 8
  %570 = mul nsw i64 %569, 1000000000
  %571 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %572 = load i64, ptr %571, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #12
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
  %659 = call i32 @pthread_setspecific(i32 noundef %658, ptr noundef null) #12
  br label %660

660:                                              ; preds = %657, %654
  call void @llvm.lifetime.end.p0(ptr nonnull %18) #12
  ret void
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #3

; Function Attrs: nounwind
define void @tw_call(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2, ptr noundef %3, i32 noundef %4) local_unnamed_addr #1 {
  %6 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #12
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
  %13 = tail call ptr @pthread_getspecific(i32 noundef %12) #12
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
  %20 = call i32 @pthread_setspecific(i32 noundef %19, ptr noundef nonnull %6) #12
  %21 = load ptr, ptr %9, align 8
  %22 = icmp eq ptr %21, null
  br i1 %22, label %23, label %26

23:                                               ; preds = %18
  %24 = getelementptr inbounds nuw i8, ptr %7, i64 256
  %25 = atomicrmw add ptr %24, i32 1 monotonic, align 128
  br label %26

26:                                               ; preds = %5, %18, %23
  %27 = call i64 asm sideeffect "mrs $0, fpcr", "=r"() #12
  %28 = or i64 %27, 16777216
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %28) #12
  call void %0(ptr noundef %1, ptr noundef %2, ptr noundef %3) #12
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %27) #12
  %29 = load atomic i64, ptr @the_pool acquire, align 8
  %30 = inttoptr i64 %29 to ptr
  %31 = icmp eq i64 %29, 0
  br i1 %31, label %45, label %32

32:                                               ; preds = %26
  %33 = load i32, ptr @key, align 4
  %34 = call ptr @pthread_getspecific(i32 noundef %33) #12
  %35 = icmp eq ptr %34, %6
  br i1 %35, label %36, label %45

36:                                               ; preds = %32
  %37 = load i32, ptr @key, align 4
  %38 = load ptr, ptr %9, align 8
  %39 = call i32 @pthread_setspecific(i32 noundef %37, ptr noundef %38) #12
  %40 = load ptr, ptr %9, align 8
  %41 = icmp eq ptr %40, null
  br i1 %41, label %42, label %45

42:                                               ; preds = %36
  %43 = getelementptr inbounds nuw i8, ptr %30, i64 256
  %44 = atomicrmw sub ptr %43, i32 1 monotonic, align 128
  br label %45

45:                                               ; preds = %26, %32, %36, %42
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #12
  ret void
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define void @tw_write_shapes(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef readonly captures(none) %2) local_unnamed_addr #4 {
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
  tail call void %50(ptr noundef %2) #12
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
  %11 = alloca %struct.timespec, align 8
  %12 = alloca %struct.timespec, align 8
  %13 = alloca %struct.timespec, align 8
  %14 = alloca %struct.tw_caller, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #12
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
  %26 = tail call ptr @pthread_getspecific(i32 noundef %25) #12
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
  %33 = call i32 @pthread_setspecific(i32 noundef %32, ptr noundef nonnull %14) #12
  %34 = load ptr, ptr %22, align 8
  %35 = icmp eq ptr %34, null
  br i1 %35, label %36, label %39

36:                                               ; preds = %31
  %37 = getelementptr inbounds nuw i8, ptr %20, i64 256
  %38 = atomicrmw add ptr %37, i32 1 monotonic, align 128
  br label %39

39:                                               ; preds = %18, %31, %36
  %40 = call i64 asm sideeffect "mrs $0, fpcr", "=r"() #12
  %41 = or i64 %40, 16777216
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %41) #12
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #12
  %42 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %13) #12
  %43 = load i64, ptr %13, align 8
  %44 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %45 = load i64, ptr %44, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #12
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
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #12
  %72 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %12) #12
  %73 = load i64, ptr %12, align 8
  %74 = load i64, ptr %52, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #12
  call void %0(ptr noundef %1, ptr noundef %2, ptr noundef %3) #12
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #12
  %75 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %11) #12
  %76 = load i64, ptr %11, align 8
  %77 = mul nsw i64 %76, 1000000000
  %78 = load i64, ptr %53, align 8
  %79 = add nsw i64 %77, %78
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #12
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
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %40) #12
  %92 = load atomic i64, ptr @the_pool acquire, align 8
  %93 = inttoptr i64 %92 to ptr
  %94 = icmp eq i64 %92, 0
  br i1 %94, label %108, label %95

95:                                               ; preds = %91
  %96 = load i32, ptr @key, align 4
  %97 = call ptr @pthread_getspecific(i32 noundef %96) #12
  %98 = icmp eq ptr %97, %14
  br i1 %98, label %99, label %108

99:                                               ; preds = %95
  %100 = load i32, ptr @key, align 4
  %101 = load ptr, ptr %22, align 8
  %102 = call i32 @pthread_setspecific(i32 noundef %100, ptr noundef %101) #12
  %103 = load ptr, ptr %22, align 8
  %104 = icmp eq ptr %103, null
  br i1 %104, label %105, label %108

105:                                              ; preds = %99
  %106 = getelementptr inbounds nuw i8, ptr %93, i64 256
  %107 = atomicrmw sub ptr %106, i32 1 monotonic, align 128
  br label %108

108:                                              ; preds = %91, %95, %99, %105
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #12
  ret i64 %85
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

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define i64 @tw_nonzero(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef readnone captures(none) %2) local_unnamed_addr #4 {
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
  br i1 %18, label %19, label %45

19:                                               ; preds = %3
  %20 = icmp eq i64 %5, 2
  br i1 %20, label %39, label %21

21:                                               ; preds = %19
  %22 = and i64 %15, -2
  br label %23

23:                                               ; preds = %23, %21
  %24 = phi i64 [ 0, %21 ], [ %34, %23 ]
  %25 = phi i64 [ 1, %21 ], [ %32, %23 ]
  %26 = phi i64 [ 1, %21 ], [ %33, %23 ]
  %27 = getelementptr inbounds nuw i64, ptr %6, i64 %24
  %28 = getelementptr inbounds nuw i64, ptr %6, i64 %24
  %29 = getelementptr inbounds nuw i8, ptr %28, i64 8
  %30 = load i64, ptr %27, align 8
  %31 = load i64, ptr %29, align 8
  %32 = mul i64 %30, %25
  %33 = mul i64 %31, %26
  %34 = add nuw i64 %24, 2
  %35 = icmp eq i64 %34, %22
  br i1 %35, label %36, label %23

36:                                               ; preds = %23
  %37 = mul i64 %33, %32
  %38 = icmp eq i64 %15, %22
  br i1 %38, label %42, label %39

39:                                               ; preds = %19, %36
  %40 = phi i64 [ 0, %19 ], [ %22, %36 ]
  %41 = phi i64 [ 1, %19 ], [ %37, %36 ]
  br label %49

42:                                               ; preds = %49, %36
  %43 = phi i64 [ %37, %36 ], [ %54, %49 ]
  %44 = icmp sgt i64 %43, 0
  br i1 %44, label %45, label %60

45:                                               ; preds = %3, %42
  %46 = phi i64 [ %43, %42 ], [ 1, %3 ]
  %47 = icmp sgt i64 %17, 0
  %48 = add nsw i64 %5, -2
  br label %57

49:                                               ; preds = %39, %49
  %50 = phi i64 [ %55, %49 ], [ %40, %39 ]
  %51 = phi i64 [ %54, %49 ], [ %41, %39 ]
  %52 = getelementptr inbounds nuw i64, ptr %6, i64 %50
  %53 = load i64, ptr %52, align 8
  %54 = mul nsw i64 %53, %51
  %55 = add nuw nsw i64 %50, 1
  %56 = icmp eq i64 %55, %15
  br i1 %56, label %42, label %49

57:                                               ; preds = %45, %109
  %58 = phi i64 [ 0, %45 ], [ %84, %109 ]
  %59 = phi i64 [ 0, %45 ], [ %110, %109 ]
  br i1 %18, label %66, label %62

60:                                               ; preds = %109, %42
  %61 = phi i64 [ 0, %42 ], [ %84, %109 ]
  ret i64 %61

62:                                               ; preds = %66, %57
  %63 = phi i64 [ 0, %57 ], [ %81, %66 ]
  br i1 %47, label %64, label %83

64:                                               ; preds = %62
  %65 = getelementptr i8, ptr %4, i64 %63
  br label %87

66:                                               ; preds = %57, %66
  %67 = phi i64 [ %75, %66 ], [ %59, %57 ]
  %68 = phi i64 [ %70, %66 ], [ %15, %57 ]
  %69 = phi i64 [ %81, %66 ], [ 0, %57 ]
  %70 = add nsw i64 %68, -1
  %71 = getelementptr i64, ptr %1, i64 %68
  %72 = load i64, ptr %71, align 8
  %73 = freeze i64 %67
  %74 = freeze i64 %72
  %75 = sdiv i64 %73, %74
  %76 = mul i64 %75, %74
  %77 = sub i64 %73, %76
  %78 = getelementptr inbounds i64, ptr %9, i64 %70
  %79 = load i64, ptr %78, align 8
  %80 = mul nsw i64 %79, %77
  %81 = add nsw i64 %80, %69
  %82 = icmp samesign ugt i64 %68, 1
  br i1 %82, label %66, label %62

83:                                               ; preds = %99, %62
  %84 = phi i64 [ %58, %62 ], [ %100, %99 ]
  br i1 %18, label %85, label %109

85:                                               ; preds = %83
  %86 = icmp slt i64 %58, %84
  br label %103

87:                                               ; preds = %64, %99
  %88 = phi i64 [ 0, %64 ], [ %101, %99 ]
  %89 = phi i64 [ %58, %64 ], [ %100, %99 ]
  %90 = getelementptr i8, ptr %65, i64 %88
  %91 = load i8, ptr %90, align 1
  %92 = icmp eq i8 %91, 0
  br i1 %92, label %99, label %93

93:                                               ; preds = %87
  %94 = load i64, ptr %14, align 8
  %95 = mul nsw i64 %94, %15
  %96 = add nsw i64 %89, 1
  %97 = getelementptr i64, ptr %11, i64 %95
  %98 = getelementptr i64, ptr %97, i64 %89
  store i64 %88, ptr %98, align 8
  br label %99

99:                                               ; preds = %87, %93
  %100 = phi i64 [ %96, %93 ], [ %89, %87 ]
  %101 = add nuw nsw i64 %88, 1
  %102 = icmp eq i64 %101, %17
  br i1 %102, label %83, label %87

103:                                              ; preds = %85, %112
  %104 = phi i64 [ %48, %85 ], [ %116, %112 ]
  %105 = phi i64 [ %59, %85 ], [ %115, %112 ]
  %106 = phi i64 [ %15, %85 ], [ %104, %112 ]
  br i1 %86, label %107, label %112

107:                                              ; preds = %103
  %108 = getelementptr i64, ptr %1, i64 %106
  br label %118

109:                                              ; preds = %112, %83
  %110 = add nuw nsw i64 %59, 1
  %111 = icmp eq i64 %110, %46
  br i1 %111, label %60, label %57

112:                                              ; preds = %118, %103
  %113 = getelementptr i64, ptr %1, i64 %106
  %114 = load i64, ptr %113, align 8
  %115 = sdiv i64 %105, %114
  %116 = add nsw i64 %104, -1
  %117 = icmp sgt i64 %104, 0
  br i1 %117, label %103, label %109

118:                                              ; preds = %107, %118
  %119 = phi i64 [ %58, %107 ], [ %126, %118 ]
  %120 = load i64, ptr %108, align 8
  %121 = srem i64 %105, %120
  %122 = load i64, ptr %14, align 8
  %123 = mul nsw i64 %122, %104
  %124 = getelementptr i64, ptr %11, i64 %123
  %125 = getelementptr i64, ptr %124, i64 %119
  store i64 %121, ptr %125, align 8
  %126 = add nsw i64 %119, 1
  %127 = icmp eq i64 %126, %84
  br i1 %127, label %112, label %118
}

; Function Attrs: nounwind
define range(i64 -9223372036854775807, -9223372036854775808) i64 @tw_suppress(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2) local_unnamed_addr #1 {
  %4 = alloca %struct.suppression, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #12
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
  br i1 %73, label %129, label %74

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
  br i1 %89, label %90, label %129

90:                                               ; preds = %74
  %91 = load ptr, ptr %85, align 8
  br label %92

92:                                               ; preds = %90, %110
  %93 = phi i64 [ %112, %110 ], [ 0, %90 ]
  %94 = phi i64 [ %111, %110 ], [ 0, %90 ]
  %95 = getelementptr inbounds nuw i64, ptr %91, i64 %93
  %96 = load i64, ptr %95, align 8
  %97 = icmp sgt i64 %96, 0
  br i1 %97, label %98, label %110

98:                                               ; preds = %92
  %99 = load i64, ptr %64, align 8
  %100 = load ptr, ptr %87, align 8
  %101 = load i64, ptr %32, align 8
  %102 = freeze i64 %93
  %103 = freeze i64 %99
  %104 = sdiv i64 %102, %103
  %105 = mul i64 %104, %103
  %106 = sub i64 %102, %105
  %107 = mul nsw i64 %101, %93
  %108 = getelementptr i32, ptr %100, i64 %107
  %109 = getelementptr inbounds nuw i64, ptr %91, i64 %93
  br label %114

110:                                              ; preds = %114, %92
  %111 = phi i64 [ %94, %92 ], [ %117, %114 ]
  %112 = add nuw nsw i64 %93, 1
  %113 = icmp eq i64 %112, %66
  br i1 %113, label %129, label %92

114:                                              ; preds = %98, %114
  %115 = phi i64 [ %126, %114 ], [ 0, %98 ]
  %116 = phi i64 [ %117, %114 ], [ %94, %98 ]
  %117 = add nsw i64 %116, 1
  %118 = load i64, ptr %55, align 8
  %119 = mul nsw i64 %118, %116
  %120 = getelementptr inbounds i64, ptr %50, i64 %119
  store i64 %104, ptr %120, align 8
  %121 = getelementptr inbounds nuw i8, ptr %120, i64 8
  store i64 %106, ptr %121, align 8
  %122 = getelementptr i32, ptr %108, i64 %115
  %123 = load i32, ptr %122, align 4
  %124 = sext i32 %123 to i64
  %125 = getelementptr inbounds nuw i8, ptr %120, i64 16
  store i64 %124, ptr %125, align 8
  %126 = add nuw nsw i64 %115, 1
  %127 = load i64, ptr %109, align 8
  %128 = icmp slt i64 %126, %127
  br i1 %128, label %114, label %110

129:                                              ; preds = %110, %74, %69
  %130 = phi i64 [ 0, %69 ], [ 0, %74 ], [ %111, %110 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #12
  ret i64 %130
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define internal void @suppress_classes(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, i64 noundef %3) #4 {
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

30:                                               ; preds = %330, %4
  ret void

31:                                               ; preds = %18, %330
  %32 = phi i64 [ %1, %18 ], [ %334, %330 ]
  %33 = load i64, ptr %19, align 8
  %34 = freeze i64 %32
  %35 = freeze i64 %33
  %36 = sdiv i64 %34, %35
  %37 = mul i64 %36, %35
  %38 = sub i64 %34, %37
  %39 = load ptr, ptr %5, align 8
  %40 = load ptr, ptr %20, align 8
  %41 = load i64, ptr %40, align 8
  %42 = mul nsw i64 %41, %36
  %43 = getelementptr inbounds float, ptr %39, i64 %42
  %44 = getelementptr inbounds nuw i8, ptr %40, i64 8
  %45 = load i64, ptr %44, align 8
  %46 = mul nsw i64 %45, %38
  %47 = getelementptr inbounds float, ptr %43, i64 %46
  %48 = load ptr, ptr %0, align 8
  %49 = load ptr, ptr %21, align 8
  %50 = load i64, ptr %49, align 8
  %51 = mul nsw i64 %50, %36
  %52 = getelementptr inbounds float, ptr %48, i64 %51
  br i1 %22, label %109, label %330

53:                                               ; preds = %180
  %54 = icmp sgt i64 %181, 1
  br i1 %54, label %55, label %107

55:                                               ; preds = %53
  %56 = lshr i64 %181, 1
  br label %57

57:                                               ; preds = %102, %55
  %58 = phi i64 [ %59, %102 ], [ %56, %55 ]
  %59 = add nsw i64 %58, -1
  %60 = getelementptr inbounds %struct.item, ptr %15, i64 %59
  %61 = load i64, ptr %60, align 8
  %62 = getelementptr inbounds nuw i8, ptr %60, i64 8
  %63 = load i64, ptr %62, align 8
  %64 = shl nuw nsw i64 %59, 1
  %65 = or disjoint i64 %64, 1
  %66 = icmp slt i64 %65, %181
  br i1 %66, label %67, label %102

67:                                               ; preds = %57, %97
  %68 = phi i64 [ %100, %97 ], [ %65, %57 ]
  %69 = phi i64 [ %99, %97 ], [ %64, %57 ]
  %70 = phi i64 [ %88, %97 ], [ %59, %57 ]
  %71 = add nsw i64 %69, 2
  %72 = icmp slt i64 %71, %181
  br i1 %72, label %73, label %87

73:                                               ; preds = %67
  %74 = getelementptr inbounds %struct.item, ptr %15, i64 %71
  %75 = getelementptr inbounds %struct.item, ptr %15, i64 %68
  %76 = load i64, ptr %74, align 8
  %77 = getelementptr inbounds nuw i8, ptr %74, i64 8
  %78 = load i64, ptr %77, align 8
  %79 = load i64, ptr %75, align 8
  %80 = getelementptr inbounds nuw i8, ptr %75, i64 8
  %81 = load i64, ptr %80, align 8
  %82 = icmp eq i64 %76, %79
  %83 = icmp sle i64 %76, %79
  %84 = icmp sge i64 %78, %81
  %85 = select i1 %82, i1 %84, i1 %83
  %86 = select i1 %85, i64 %68, i64 %71
  br label %87

87:                                               ; preds = %73, %67
  %88 = phi i64 [ %68, %67 ], [ %86, %73 ]
  %89 = getelementptr inbounds %struct.item, ptr %15, i64 %88
  %90 = load i64, ptr %89, align 8
  %91 = getelementptr inbounds nuw i8, ptr %89, i64 8
  %92 = load i64, ptr %91, align 8
  %93 = icmp eq i64 %90, %61
  %94 = icmp sle i64 %90, %61
  %95 = icmp sge i64 %92, %63
  %96 = select i1 %93, i1 %95, i1 %94
  br i1 %96, label %102, label %97

97:                                               ; preds = %87
  %98 = getelementptr inbounds %struct.item, ptr %15, i64 %70
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %98, ptr noundef nonnull align 8 dereferenceable(16) %89, i64 16, i1 false)
  %99 = shl nsw i64 %88, 1
  %100 = or disjoint i64 %99, 1
  %101 = icmp slt i64 %100, %181
  br i1 %101, label %67, label %102

102:                                              ; preds = %97, %87, %57
  %103 = phi i64 [ %59, %57 ], [ %88, %97 ], [ %70, %87 ]
  %104 = getelementptr inbounds %struct.item, ptr %15, i64 %103
  store i64 %61, ptr %104, align 8
  %105 = getelementptr inbounds nuw i8, ptr %104, i64 8
  store i64 %63, ptr %105, align 8
  %106 = icmp sgt i64 %58, 1
  br i1 %106, label %57, label %107

107:                                              ; preds = %102, %53
  %108 = icmp sgt i64 %181, 0
  br i1 %108, label %184, label %330

109:                                              ; preds = %31, %180
  %110 = phi i64 [ %181, %180 ], [ 0, %31 ]
  %111 = phi i64 [ %182, %180 ], [ 0, %31 ]
  %112 = and i64 %111, 31
  %113 = icmp eq i64 %112, 0
  br i1 %113, label %114, label %156

114:                                              ; preds = %109
  %115 = load float, ptr %23, align 4
  %116 = insertelement <4 x float> poison, float %115, i64 0
  %117 = shufflevector <4 x float> %116, <4 x float> poison, <4 x i32> zeroinitializer
  br label %118

118:                                              ; preds = %122, %114
  %119 = phi i64 [ %111, %114 ], [ %120, %122 ]
  %120 = add nsw i64 %119, 32
  %121 = icmp sgt i64 %120, %9
  br i1 %121, label %156, label %122

122:                                              ; preds = %118
  %123 = getelementptr float, ptr %47, i64 %119
  %124 = getelementptr i8, ptr %123, i64 16
  %125 = load <4 x float>, ptr %123, align 4
  %126 = load <4 x float>, ptr %124, align 4
  %127 = fcmp ugt <4 x float> %125, %117
  %128 = fcmp ugt <4 x float> %126, %117
  %129 = getelementptr i8, ptr %123, i64 32
  %130 = getelementptr i8, ptr %123, i64 48
  %131 = load <4 x float>, ptr %129, align 4
  %132 = load <4 x float>, ptr %130, align 4
  %133 = fcmp ugt <4 x float> %131, %117
  %134 = fcmp ugt <4 x float> %132, %117
  %135 = or <4 x i1> %127, %133
  %136 = or <4 x i1> %128, %134
  %137 = getelementptr i8, ptr %123, i64 64
  %138 = getelementptr i8, ptr %123, i64 80
  %139 = load <4 x float>, ptr %137, align 4
  %140 = load <4 x float>, ptr %138, align 4
  %141 = fcmp ugt <4 x float> %139, %117
  %142 = fcmp ugt <4 x float> %140, %117
  %143 = or <4 x i1> %135, %141
  %144 = or <4 x i1> %136, %142
  %145 = getelementptr i8, ptr %123, i64 96
  %146 = getelementptr i8, ptr %123, i64 112
  %147 = load <4 x float>, ptr %145, align 4
  %148 = load <4 x float>, ptr %146, align 4
  %149 = fcmp ugt <4 x float> %147, %117
  %150 = fcmp ugt <4 x float> %148, %117
  %151 = or <4 x i1> %143, %149
  %152 = or <4 x i1> %144, %150
  %153 = or <4 x i1> %152, %151
  %154 = bitcast <4 x i1> %153 to i4
  %155 = icmp eq i4 %154, 0
  br i1 %155, label %118, label %156

156:                                              ; preds = %122, %118, %109
  %157 = phi i64 [ %111, %109 ], [ %119, %118 ], [ %119, %122 ]
  %158 = icmp slt i64 %157, %9
  br i1 %158, label %159, label %180

159:                                              ; preds = %156
  %160 = getelementptr inbounds float, ptr %47, i64 %157
  %161 = load float, ptr %160, align 4
  %162 = load float, ptr %23, align 4
  %163 = fcmp ogt float %161, %162
  %164 = fcmp uno float %162, 0.000000e+00
  %165 = or i1 %163, %164
  br i1 %165, label %166, label %180

166:                                              ; preds = %159
  %167 = add nsw i64 %110, 1
  %168 = getelementptr inbounds %struct.item, ptr %15, i64 %110
  %169 = fcmp uno float %161, 0.000000e+00
  br i1 %169, label %177, label %170

170:                                              ; preds = %166
  %171 = fpext float %161 to double
  %172 = fadd double %171, 0.000000e+00
  %173 = bitcast double %172 to i64
  %174 = icmp slt i64 %173, 0
  %175 = xor i64 %173, 9223372036854775807
  %176 = select i1 %174, i64 %175, i64 %173
  br label %177

177:                                              ; preds = %166, %170
  %178 = phi i64 [ %176, %170 ], [ 9223372036854775807, %166 ]
  store i64 %178, ptr %168, align 8
  %179 = getelementptr inbounds nuw i8, ptr %168, i64 8
  store i64 %157, ptr %179, align 8
  br label %180

180:                                              ; preds = %159, %156, %177
  %181 = phi i64 [ %167, %177 ], [ %110, %159 ], [ %110, %156 ]
  %182 = add nsw i64 %157, 1
  %183 = icmp slt i64 %182, %9
  br i1 %183, label %109, label %53

184:                                              ; preds = %107, %326
  %185 = phi i64 [ %328, %326 ], [ %181, %107 ]
  %186 = phi i64 [ %327, %326 ], [ 0, %107 ]
  %187 = load i64, ptr %24, align 8
  %188 = icmp slt i64 %186, %187
  br i1 %188, label %189, label %330

189:                                              ; preds = %184
  %190 = load i64, ptr %25, align 8
  %191 = icmp eq i64 %185, 1
  br i1 %191, label %238, label %192

192:                                              ; preds = %189
  %193 = add nsw i64 %185, -1
  %194 = getelementptr inbounds nuw %struct.item, ptr %15, i64 %193
  %195 = load i64, ptr %194, align 8
  %196 = getelementptr inbounds nuw i8, ptr %194, i64 8
  %197 = load i64, ptr %196, align 8
  %198 = icmp eq i64 %185, 2
  br i1 %198, label %234, label %199

199:                                              ; preds = %192, %229
  %200 = phi i64 [ %232, %229 ], [ 1, %192 ]
  %201 = phi i64 [ %231, %229 ], [ 0, %192 ]
  %202 = phi i64 [ %220, %229 ], [ 0, %192 ]
  %203 = add nsw i64 %201, 2
  %204 = icmp slt i64 %203, %193
  br i1 %204, label %205, label %219

205:                                              ; preds = %199
  %206 = getelementptr inbounds %struct.item, ptr %15, i64 %203
  %207 = getelementptr inbounds %struct.item, ptr %15, i64 %200
  %208 = load i64, ptr %206, align 8
  %209 = getelementptr inbounds nuw i8, ptr %206, i64 8
  %210 = load i64, ptr %209, align 8
  %211 = load i64, ptr %207, align 8
  %212 = getelementptr inbounds nuw i8, ptr %207, i64 8
  %213 = load i64, ptr %212, align 8
  %214 = icmp eq i64 %208, %211
  %215 = icmp sle i64 %208, %211
  %216 = icmp sge i64 %210, %213
  %217 = select i1 %214, i1 %216, i1 %215
  %218 = select i1 %217, i64 %200, i64 %203
  br label %219

219:                                              ; preds = %205, %199
  %220 = phi i64 [ %200, %199 ], [ %218, %205 ]
  %221 = getelementptr inbounds %struct.item, ptr %15, i64 %220
  %222 = load i64, ptr %221, align 8
  %223 = getelementptr inbounds nuw i8, ptr %221, i64 8
  %224 = load i64, ptr %223, align 8
  %225 = icmp eq i64 %222, %195
  %226 = icmp sle i64 %222, %195
  %227 = icmp sge i64 %224, %197
  %228 = select i1 %225, i1 %227, i1 %226
  br i1 %228, label %234, label %229

229:                                              ; preds = %219
  %230 = getelementptr inbounds %struct.item, ptr %15, i64 %202
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %230, ptr noundef nonnull align 8 dereferenceable(16) %221, i64 16, i1 false)
  %231 = shl nsw i64 %220, 1
  %232 = or disjoint i64 %231, 1
  %233 = icmp slt i64 %232, %193
  br i1 %233, label %199, label %234

234:                                              ; preds = %229, %219, %192
  %235 = phi i64 [ 0, %192 ], [ %220, %229 ], [ %202, %219 ]
  %236 = getelementptr inbounds %struct.item, ptr %15, i64 %235
  store i64 %195, ptr %236, align 8
  %237 = getelementptr inbounds nuw i8, ptr %236, i64 8
  store i64 %197, ptr %237, align 8
  br label %238

238:                                              ; preds = %189, %234
  %239 = load ptr, ptr %21, align 8
  %240 = getelementptr inbounds nuw i8, ptr %239, i64 8
  %241 = load i64, ptr %240, align 8
  %242 = mul nsw i64 %241, %190
  %243 = getelementptr inbounds float, ptr %52, i64 %242
  %244 = load i64, ptr %26, align 8
  %245 = icmp eq i64 %244, 0
  br i1 %245, label %255, label %246

246:                                              ; preds = %238
  %247 = getelementptr inbounds nuw i8, ptr %243, i64 8
  %248 = load <2 x float>, ptr %247, align 4
  %249 = fmul <2 x float> %248, splat (float 5.000000e-01)
  %250 = load <2 x float>, ptr %243, align 4
  %251 = fsub <2 x float> %250, %249
  %252 = shufflevector <2 x float> %251, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  %253 = fadd <2 x float> %249, %250
  %254 = shufflevector <2 x float> %253, <2 x float> poison, <2 x i32> <i32 1, i32 0>
  br label %262

255:                                              ; preds = %238
  %256 = getelementptr inbounds nuw i8, ptr %243, i64 8
  %257 = load <2 x float>, ptr %243, align 4
  %258 = load <2 x float>, ptr %256, align 4
  %259 = fcmp olt <2 x float> %257, %258
  %260 = select <2 x i1> %259, <2 x float> %257, <2 x float> %258
  %261 = select <2 x i1> %259, <2 x float> %258, <2 x float> %257
  br label %262

262:                                              ; preds = %246, %255
  %263 = phi <2 x float> [ %261, %255 ], [ %254, %246 ]
  %264 = phi <2 x float> [ %260, %255 ], [ %252, %246 ]
  %265 = extractelement <2 x float> %263, i64 1
  %266 = extractelement <2 x float> %264, i64 1
  %267 = fsub float %265, %266
  %268 = extractelement <2 x float> %263, i64 0
  %269 = extractelement <2 x float> %264, i64 0
  %270 = fsub <2 x float> %263, %264
  %271 = extractelement <2 x float> %270, i64 0
  %272 = fmul float %271, %267
  %273 = icmp sgt i64 %186, 0
  br i1 %273, label %274, label %313

274:                                              ; preds = %262
  %275 = load float, ptr %27, align 8
  %276 = fcmp ugt float %272, 0.000000e+00
  br label %277

277:                                              ; preds = %274, %310
  %278 = phi i64 [ 0, %274 ], [ %311, %310 ]
  %279 = getelementptr inbounds nuw %struct.box, ptr %16, i64 %278
  %280 = load <4 x float>, ptr %279, align 4
  %281 = shufflevector <4 x float> %280, <4 x float> poison, <2 x i32> <i32 2, i32 0>
  %282 = fcmp ogt <2 x float> %264, %281
  %283 = select <2 x i1> %282, <2 x float> %264, <2 x float> %281
  %284 = shufflevector <4 x float> %280, <4 x float> poison, <2 x i32> <i32 3, i32 1>
  %285 = fcmp olt <2 x float> %263, %284
  %286 = select <2 x i1> %285, <2 x float> %263, <2 x float> %284
  %287 = fcmp ugt <2 x float> %286, %283
  %288 = extractelement <2 x i1> %287, i64 1
  %289 = fcmp ugt <2 x float> %286, %283
  %290 = extractelement <2 x i1> %289, i64 0
  %291 = select i1 %288, i1 %290, i1 false
  br i1 %291, label %292, label %310

292:                                              ; preds = %277
  %293 = fsub <2 x float> %286, %283
  %294 = extractelement <2 x float> %293, i64 0
  %295 = extractelement <2 x float> %293, i64 1
  %296 = fmul float %295, %294
  %297 = fcmp ugt float %296, 0.000000e+00
  %298 = select i1 %297, i1 %276, i1 false
  br i1 %298, label %299, label %310

299:                                              ; preds = %292
  %300 = getelementptr inbounds nuw i8, ptr %279, i64 16
  %301 = load float, ptr %300, align 4
  %302 = fadd float %272, %301
  %303 = fsub float %302, %296
  %304 = fcmp ole float %301, 0.000000e+00
  %305 = fcmp ole float %303, 0.000000e+00
  %306 = select i1 %304, i1 true, i1 %305
  %307 = fdiv float %296, %303
  %308 = fcmp ule float %307, %275
  %309 = select i1 %306, i1 true, i1 %308
  br i1 %309, label %310, label %326

310:                                              ; preds = %292, %299, %277
  %311 = add nuw nsw i64 %278, 1
  %312 = icmp eq i64 %311, %186
  br i1 %312, label %313, label %277

313:                                              ; preds = %310, %262
  %314 = trunc i64 %190 to i32
  %315 = load ptr, ptr %28, align 8
  %316 = load i64, ptr %24, align 8
  %317 = mul nsw i64 %316, %32
  %318 = getelementptr i32, ptr %315, i64 %317
  %319 = getelementptr i32, ptr %318, i64 %186
  store i32 %314, ptr %319, align 4
  %320 = add nsw i64 %186, 1
  %321 = getelementptr inbounds %struct.box, ptr %16, i64 %186
  store float %266, ptr %321, align 4
  %322 = getelementptr inbounds nuw i8, ptr %321, i64 4
  store float %265, ptr %322, align 4
  %323 = getelementptr inbounds nuw i8, ptr %321, i64 8
  store float %269, ptr %323, align 4
  %324 = getelementptr inbounds nuw i8, ptr %321, i64 12
  store float %268, ptr %324, align 4
  %325 = getelementptr inbounds nuw i8, ptr %321, i64 16
  store float %272, ptr %325, align 4
  br label %326

326:                                              ; preds = %299, %313
  %327 = phi i64 [ %320, %313 ], [ %186, %299 ]
  %328 = add nsw i64 %185, -1
  %329 = icmp sgt i64 %185, 1
  br i1 %329, label %184, label %330

330:                                              ; preds = %184, %326, %31, %107
  %331 = phi i64 [ 0, %107 ], [ 0, %31 ], [ %186, %184 ], [ %327, %326 ]
  %332 = load ptr, ptr %29, align 8
  %333 = getelementptr inbounds i64, ptr %332, i64 %32
  store i64 %331, ptr %333, align 8
  %334 = add nsw i64 %32, 1
  %335 = icmp eq i64 %334, %2
  br i1 %335, label %30, label %31
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define i64 @tw_unique(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef captures(none) %2) local_unnamed_addr #4 {
  %4 = alloca %struct.rows, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #12
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
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %15 = load ptr, ptr %14, align 8
  %16 = load i64, ptr %9, align 8
  %17 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %18 = shl nsw i64 %16, 4
  %19 = getelementptr inbounds i8, ptr %17, i64 %18
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %21 = load ptr, ptr %20, align 8
  %22 = load i64, ptr %19, align 8
  %23 = getelementptr inbounds nuw i8, ptr %19, i64 8
  %24 = shl nsw i64 %22, 4
  %25 = getelementptr inbounds i8, ptr %23, i64 %24
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %27 = load ptr, ptr %26, align 8
  %28 = load i64, ptr %25, align 8
  %29 = getelementptr inbounds nuw i8, ptr %25, i64 8
  %30 = shl nsw i64 %28, 4
  %31 = getelementptr inbounds i8, ptr %29, i64 %30
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds nuw i8, ptr %4, i64 32
  store i64 %32, ptr %33, align 8
  %34 = getelementptr inbounds nuw i8, ptr %31, i64 8
  %35 = load i64, ptr %34, align 8
  %36 = load i64, ptr %7, align 8
  %37 = getelementptr inbounds %struct.item, ptr %2, i64 %36
  %38 = load i64, ptr %10, align 8
  %39 = icmp sgt i64 %36, 0
  br i1 %39, label %40, label %153

40:                                               ; preds = %3
  %41 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %42 = load i64, ptr %41, align 8
  %43 = icmp eq i64 %42, 0
  br label %46

44:                                               ; preds = %74
  %45 = icmp eq i64 %36, 1
  br i1 %45, label %143, label %80

46:                                               ; preds = %74, %40
  %47 = phi i64 [ 0, %40 ], [ %78, %74 ]
  br i1 %43, label %74, label %48

48:                                               ; preds = %46
  %49 = mul nsw i64 %47, %38
  switch i64 %32, label %71 [
    i64 1, label %50
    i64 2, label %60
  ]

50:                                               ; preds = %48
  %51 = getelementptr inbounds double, ptr %5, i64 %49
  %52 = load double, ptr %51, align 8
  %53 = fcmp uno double %52, 0.000000e+00
  br i1 %53, label %74, label %54

54:                                               ; preds = %50
  %55 = fadd double %52, 0.000000e+00
  %56 = bitcast double %55 to i64
  %57 = icmp slt i64 %56, 0
  %58 = xor i64 %56, 9223372036854775807
  %59 = select i1 %57, i64 %58, i64 %56
  br label %74

60:                                               ; preds = %48
  %61 = getelementptr inbounds float, ptr %5, i64 %49
  %62 = load float, ptr %61, align 4
  %63 = fcmp uno float %62, 0.000000e+00
  br i1 %63, label %74, label %64

64:                                               ; preds = %60
  %65 = fpext float %62 to double
  %66 = fadd double %65, 0.000000e+00
  %67 = bitcast double %66 to i64
  %68 = icmp slt i64 %67, 0
  %69 = xor i64 %67, 9223372036854775807
  %70 = select i1 %68, i64 %69, i64 %67
  br label %74

71:                                               ; preds = %48
  %72 = getelementptr inbounds i64, ptr %5, i64 %49
  %73 = load i64, ptr %72, align 8
  br label %74

74:                                               ; preds = %71, %64, %60, %54, %50, %46
  %75 = phi i64 [ 0, %46 ], [ %73, %71 ], [ 9223372036854775807, %50 ], [ %59, %54 ], [ %70, %64 ], [ 9223372036854775807, %60 ]
  %76 = getelementptr inbounds nuw %struct.item, ptr %2, i64 %47
  store i64 %75, ptr %76, align 8
  %77 = getelementptr inbounds nuw i8, ptr %76, i64 8
  store i64 %47, ptr %77, align 8
  %78 = add nuw nsw i64 %47, 1
  %79 = icmp eq i64 %78, %36
  br i1 %79, label %44, label %46

80:                                               ; preds = %44, %85
  %81 = phi ptr [ %82, %85 ], [ %2, %44 ]
  %82 = phi ptr [ %81, %85 ], [ %37, %44 ]
  %83 = phi i64 [ %84, %85 ], [ 1, %44 ]
  %84 = shl i64 %83, 1
  br label %87

85:                                               ; preds = %98
  %86 = icmp slt i64 %84, %36
  br i1 %86, label %80, label %143

87:                                               ; preds = %98, %80
  %88 = phi i64 [ %83, %80 ], [ %101, %98 ]
  %89 = phi i64 [ 0, %80 ], [ %99, %98 ]
  %90 = tail call i64 @llvm.smin.i64(i64 %36, i64 %88)
  %91 = add nsw i64 %90, %83
  %92 = tail call i64 @llvm.smin.i64(i64 %36, i64 %91)
  %93 = add nsw i64 %89, %83
  %94 = tail call i64 @llvm.smin.i64(i64 %93, i64 %36)
  %95 = add nsw i64 %94, %83
  %96 = tail call i64 @llvm.smin.i64(i64 %95, i64 %36)
  %97 = icmp slt i64 %89, %96
  br i1 %97, label %102, label %98

98:                                               ; preds = %135, %87
  %99 = add nsw i64 %89, %84
  %100 = icmp slt i64 %99, %36
  %101 = add i64 %88, %84
  br i1 %100, label %87, label %85

102:                                              ; preds = %87, %135
  %103 = phi i64 [ %141, %135 ], [ %89, %87 ]
  %104 = phi i64 [ %139, %135 ], [ %94, %87 ]
  %105 = phi i64 [ %138, %135 ], [ %89, %87 ]
  %106 = icmp slt i64 %105, %94
  br i1 %106, label %109, label %107

107:                                              ; preds = %102
  %108 = getelementptr inbounds %struct.item, ptr %82, i64 %103
  br label %132

109:                                              ; preds = %102
  %110 = icmp eq i64 %104, %96
  br i1 %110, label %111, label %113

111:                                              ; preds = %109
  %112 = getelementptr inbounds %struct.item, ptr %82, i64 %103
  br label %129

113:                                              ; preds = %109
  %114 = getelementptr inbounds %struct.item, ptr %81, i64 %105
  %115 = getelementptr inbounds %struct.item, ptr %81, i64 %104
  %116 = load i64, ptr %114, align 8
  %117 = insertvalue [2 x i64] poison, i64 %116, 0
  %118 = getelementptr inbounds nuw i8, ptr %114, i64 8
  %119 = load i64, ptr %118, align 8
  %120 = insertvalue [2 x i64] %117, i64 %119, 1
  %121 = load i64, ptr %115, align 8
  %122 = insertvalue [2 x i64] poison, i64 %121, 0
  %123 = getelementptr inbounds nuw i8, ptr %115, i64 8
  %124 = load i64, ptr %123, align 8
  %125 = insertvalue [2 x i64] %122, i64 %124, 1
  %126 = call fastcc i32 @compare_rows(ptr noundef nonnull readonly %4, [2 x i64] %120, [2 x i64] %125)
  %127 = icmp slt i32 %126, 1
  %128 = getelementptr inbounds %struct.item, ptr %82, i64 %103
  br i1 %127, label %129, label %132

129:                                              ; preds = %113, %111
  %130 = phi ptr [ %112, %111 ], [ %128, %113 ]
  %131 = add nsw i64 %105, 1
  br label %135

132:                                              ; preds = %113, %107
  %133 = phi ptr [ %108, %107 ], [ %128, %113 ]
  %134 = add nsw i64 %104, 1
  br label %135

135:                                              ; preds = %132, %129
  %136 = phi i64 [ %104, %132 ], [ %105, %129 ]
  %137 = phi ptr [ %133, %132 ], [ %130, %129 ]
  %138 = phi i64 [ %105, %132 ], [ %131, %129 ]
  %139 = phi i64 [ %134, %132 ], [ %104, %129 ]
  %140 = getelementptr inbounds %struct.item, ptr %81, i64 %136
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %137, ptr noundef nonnull align 8 dereferenceable(16) %140, i64 16, i1 false)
  %141 = add i64 %103, 1
  %142 = icmp eq i64 %141, %92
  br i1 %142, label %98, label %102

143:                                              ; preds = %85, %44
  %144 = phi ptr [ %2, %44 ], [ %82, %85 ]
  %145 = getelementptr inbounds nuw i8, ptr %144, i64 8
  %146 = load i64, ptr %145, align 8
  store i64 %146, ptr %15, align 8
  store i64 0, ptr %27, align 8
  %147 = getelementptr inbounds nuw i8, ptr %144, i64 8
  %148 = load i64, ptr %147, align 8
  %149 = getelementptr inbounds i64, ptr %21, i64 %148
  store i64 0, ptr %149, align 8
  %150 = load i64, ptr %27, align 8
  %151 = add nsw i64 %150, 1
  store i64 %151, ptr %27, align 8
  %152 = icmp eq i64 %36, 1
  br i1 %152, label %153, label %156

153:                                              ; preds = %180, %3, %143
  %154 = phi i64 [ 1, %143 ], [ 0, %3 ], [ %182, %180 ]
  %155 = icmp eq i64 %35, 0
  br i1 %155, label %190, label %228

156:                                              ; preds = %143, %180
  %157 = phi i64 [ %182, %180 ], [ 1, %143 ]
  %158 = phi i64 [ %188, %180 ], [ 1, %143 ]
  %159 = getelementptr %struct.item, ptr %144, i64 %158
  %160 = getelementptr i8, ptr %159, i64 -16
  %161 = load i64, ptr %160, align 8
  %162 = insertvalue [2 x i64] poison, i64 %161, 0
  %163 = getelementptr i8, ptr %159, i64 -8
  %164 = load i64, ptr %163, align 8
  %165 = insertvalue [2 x i64] %162, i64 %164, 1
  %166 = load i64, ptr %159, align 8
  %167 = insertvalue [2 x i64] poison, i64 %166, 0
  %168 = getelementptr inbounds nuw i8, ptr %159, i64 8
  %169 = load i64, ptr %168, align 8
  %170 = insertvalue [2 x i64] %167, i64 %169, 1
  %171 = call fastcc i32 @compare_rows(ptr noundef %4, [2 x i64] %165, [2 x i64] %170)
  %172 = icmp eq i32 %171, 0
  br i1 %172, label %180, label %173

173:                                              ; preds = %156
  %174 = getelementptr inbounds nuw %struct.item, ptr %144, i64 %158
  %175 = getelementptr inbounds nuw i8, ptr %174, i64 8
  %176 = getelementptr inbounds i64, ptr %15, i64 %157
  store i64 %169, ptr %176, align 8
  %177 = add nsw i64 %157, 1
  %178 = getelementptr inbounds i64, ptr %27, i64 %157
  store i64 0, ptr %178, align 8
  %179 = load i64, ptr %175, align 8
  br label %180

180:                                              ; preds = %173, %156
  %181 = phi i64 [ %179, %173 ], [ %169, %156 ]
  %182 = phi i64 [ %177, %173 ], [ %157, %156 ]
  %183 = add nsw i64 %182, -1
  %184 = getelementptr inbounds i64, ptr %21, i64 %181
  store i64 %183, ptr %184, align 8
  %185 = getelementptr inbounds i64, ptr %27, i64 %183
  %186 = load i64, ptr %185, align 8
  %187 = add nsw i64 %186, 1
  store i64 %187, ptr %185, align 8
  %188 = add nuw nsw i64 %158, 1
  %189 = icmp eq i64 %188, %36
  br i1 %189, label %153, label %156

190:                                              ; preds = %153
  %191 = getelementptr inbounds i64, ptr %2, i64 %36
  %192 = shl i64 %154, 3
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 8 %191, ptr align 8 %27, i64 %192, i1 false)
  br i1 %39, label %193, label %228

193:                                              ; preds = %190, %210
  %194 = phi i64 [ %213, %210 ], [ 0, %190 ]
  %195 = phi i64 [ %212, %210 ], [ 0, %190 ]
  %196 = getelementptr inbounds nuw i64, ptr %21, i64 %194
  %197 = load i64, ptr %196, align 8
  %198 = getelementptr inbounds i64, ptr %15, i64 %197
  %199 = load i64, ptr %198, align 8
  %200 = icmp eq i64 %199, %194
  br i1 %200, label %204, label %201

201:                                              ; preds = %193
  %202 = getelementptr inbounds i64, ptr %2, i64 %197
  %203 = load i64, ptr %202, align 8
  br label %210

204:                                              ; preds = %193
  %205 = getelementptr inbounds i64, ptr %191, i64 %197
  %206 = load i64, ptr %205, align 8
  %207 = getelementptr inbounds i64, ptr %27, i64 %195
  store i64 %206, ptr %207, align 8
  %208 = add nsw i64 %195, 1
  %209 = getelementptr inbounds i64, ptr %2, i64 %197
  store i64 %195, ptr %209, align 8
  br label %210

210:                                              ; preds = %201, %204
  %211 = phi i64 [ %195, %204 ], [ %203, %201 ]
  %212 = phi i64 [ %208, %204 ], [ %195, %201 ]
  store i64 %211, ptr %196, align 8
  %213 = add nuw nsw i64 %194, 1
  %214 = icmp eq i64 %213, %36
  br i1 %214, label %215, label %193

215:                                              ; preds = %210, %224
  %216 = phi i64 [ %225, %224 ], [ 0, %210 ]
  %217 = phi i64 [ %226, %224 ], [ 0, %210 ]
  %218 = getelementptr inbounds nuw i64, ptr %21, i64 %217
  %219 = load i64, ptr %218, align 8
  %220 = icmp eq i64 %219, %216
  br i1 %220, label %221, label %224

221:                                              ; preds = %215
  %222 = add nsw i64 %216, 1
  %223 = getelementptr inbounds i64, ptr %15, i64 %216
  store i64 %217, ptr %223, align 8
  br label %224

224:                                              ; preds = %215, %221
  %225 = phi i64 [ %222, %221 ], [ %216, %215 ]
  %226 = add nuw nsw i64 %217, 1
  %227 = icmp eq i64 %226, %36
  br i1 %227, label %228, label %215

228:                                              ; preds = %224, %190, %153
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #12
  ret i64 %154
}

; Function Attrs: nofree norecurse nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define internal fastcc range(i32 -1, 2) i32 @compare_rows(ptr noundef nonnull readonly captures(none) %0, [2 x i64] %1, [2 x i64] %2) unnamed_addr #6 {
  %4 = extractvalue [2 x i64] %1, 0
  %5 = extractvalue [2 x i64] %1, 1
  %6 = extractvalue [2 x i64] %2, 0
  %7 = extractvalue [2 x i64] %2, 1
  %8 = icmp eq i64 %4, %6
  br i1 %8, label %12, label %9

9:                                                ; preds = %3
  %10 = icmp slt i64 %4, %6
  %11 = select i1 %10, i32 -1, i32 1
  br label %91

12:                                               ; preds = %3
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %16 = load i64, ptr %15, align 8
  %17 = icmp sgt i64 %16, 1
  br i1 %17, label %18, label %91

18:                                               ; preds = %12
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %20 = load ptr, ptr %19, align 8
  %21 = load i64, ptr %20, align 8
  %22 = load ptr, ptr %0, align 8
  %23 = mul nsw i64 %21, %5
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %25 = load i64, ptr %24, align 8
  %26 = mul nsw i64 %21, %7
  %27 = getelementptr float, ptr %22, i64 %26
  %28 = getelementptr double, ptr %22, i64 %26
  br label %32

29:                                               ; preds = %84
  %30 = add nuw nsw i64 %33, 1
  %31 = icmp eq i64 %30, %16
  br i1 %31, label %91, label %32

32:                                               ; preds = %18, %29
  %33 = phi i64 [ 1, %18 ], [ %30, %29 ]
  %34 = add nsw i64 %33, %23
  switch i64 %25, label %66 [
    i64 1, label %35
    i64 2, label %45
  ]

35:                                               ; preds = %32
  %36 = getelementptr inbounds double, ptr %22, i64 %34
  %37 = load double, ptr %36, align 8
  %38 = fcmp uno double %37, 0.000000e+00
  br i1 %38, label %56, label %39

39:                                               ; preds = %35
  %40 = fadd double %37, 0.000000e+00
  %41 = bitcast double %40 to i64
  %42 = icmp slt i64 %41, 0
  %43 = xor i64 %41, 9223372036854775807
  %44 = select i1 %42, i64 %43, i64 %41
  br label %56

45:                                               ; preds = %32
  %46 = getelementptr inbounds float, ptr %22, i64 %34
  %47 = load float, ptr %46, align 4
  %48 = fcmp uno float %47, 0.000000e+00
  br i1 %48, label %61, label %49

49:                                               ; preds = %45
  %50 = fpext float %47 to double
  %51 = fadd double %50, 0.000000e+00
  %52 = bitcast double %51 to i64
  %53 = icmp slt i64 %52, 0
  %54 = xor i64 %52, 9223372036854775807
  %55 = select i1 %53, i64 %54, i64 %52
  br label %61

56:                                               ; preds = %35, %39
  %57 = phi i64 [ %44, %39 ], [ 9223372036854775807, %35 ]
  %58 = getelementptr double, ptr %28, i64 %33
  %59 = load double, ptr %58, align 8
  %60 = fcmp uno double %59, 0.000000e+00
  br i1 %60, label %84, label %71

61:                                               ; preds = %45, %49
  %62 = phi i64 [ 9223372036854775807, %45 ], [ %55, %49 ]
  %63 = getelementptr float, ptr %27, i64 %33
  %64 = load float, ptr %63, align 4
  %65 = fcmp uno float %64, 0.000000e+00
  br i1 %65, label %84, label %77

66:                                               ; preds = %32
  %67 = getelementptr inbounds i64, ptr %22, i64 %34
  %68 = load i64, ptr %67, align 8
  %69 = getelementptr i64, ptr %28, i64 %33
  %70 = load i64, ptr %69, align 8
  br label %84

71:                                               ; preds = %56
  %72 = fadd double %59, 0.000000e+00
  %73 = bitcast double %72 to i64
  %74 = icmp slt i64 %73, 0
  %75 = xor i64 %73, 9223372036854775807
  %76 = select i1 %74, i64 %75, i64 %73
  br label %84

77:                                               ; preds = %61
  %78 = fpext float %64 to double
  %79 = fadd double %78, 0.000000e+00
  %80 = bitcast double %79 to i64
  %81 = icmp slt i64 %80, 0
  %82 = xor i64 %80, 9223372036854775807
  %83 = select i1 %81, i64 %82, i64 %80
  br label %84

84:                                               ; preds = %56, %71, %61, %77, %66
  %85 = phi i64 [ %68, %66 ], [ %57, %56 ], [ %57, %71 ], [ %62, %77 ], [ %62, %61 ]
  %86 = phi i64 [ %70, %66 ], [ 9223372036854775807, %56 ], [ %76, %71 ], [ %83, %77 ], [ 9223372036854775807, %61 ]
  %87 = icmp eq i64 %85, %86
  br i1 %87, label %29, label %88

88:                                               ; preds = %84
  %89 = icmp slt i64 %85, %86
  %90 = select i1 %89, i32 -1, i32 1
  br label %91

91:                                               ; preds = %29, %88, %12, %9
  %92 = phi i32 [ %11, %9 ], [ %90, %88 ], [ 0, %12 ], [ 0, %29 ]
  ret i32 %92
}

; Function Attrs: nounwind
define i64 @tw_top_k(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2) local_unnamed_addr #1 {
  %4 = alloca %struct.top, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #12
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
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #12
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
  %53 = tail call i64 %52(ptr noundef %35, i64 noundef %37, i64 noundef %8, float noundef %49) #12
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
  %146 = phi i64 [ %102, %100 ], [ %131, %140 ], [ %113, %130 ]
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
  %195 = phi i64 [ 0, %158 ], [ %162, %179 ], [ %180, %189 ]
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
  %261 = phi i64 [ 0, %218 ], [ %246, %255 ], [ %228, %245 ]
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
define i64 @tw_scatter(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef readnone captures(none) %2) local_unnamed_addr #4 {
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
  br i1 %40, label %43, label %41

41:                                               ; preds = %43, %3
  %42 = icmp sgt i64 %32, 0
  br i1 %42, label %52, label %51

43:                                               ; preds = %3, %43
  %44 = phi i64 [ %49, %43 ], [ 0, %3 ]
  %45 = mul nsw i64 %44, %39
  %46 = getelementptr inbounds i8, ptr %24, i64 %45
  %47 = mul nsw i64 %37, %44
  %48 = getelementptr inbounds i8, ptr %4, i64 %47
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %46, ptr align 1 %48, i64 %35, i1 false)
  %49 = add nuw nsw i64 %44, 1
  %50 = icmp eq i64 %49, %31
  br i1 %50, label %41, label %43

51:                                               ; preds = %66, %41
  ret i64 %32

52:                                               ; preds = %41, %66
  %53 = phi i64 [ %67, %66 ], [ 0, %41 ]
  %54 = getelementptr inbounds nuw i64, ptr %11, i64 %53
  %55 = load i64, ptr %54, align 8
  %56 = icmp sgt i64 %55, -1
  %57 = icmp slt i64 %55, %31
  %58 = and i1 %56, %57
  br i1 %58, label %59, label %66

59:                                               ; preds = %52
  %60 = load i64, ptr %22, align 8
  %61 = mul i64 %53, %30
  %62 = mul i64 %61, %60
  %63 = getelementptr inbounds i8, ptr %17, i64 %62
  %64 = mul nsw i64 %55, %39
  %65 = getelementptr inbounds i8, ptr %24, i64 %64
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %65, ptr align 1 %63, i64 %35, i1 false)
  br label %66

66:                                               ; preds = %59, %52
  %67 = add nuw nsw i64 %53, 1
  %68 = icmp eq i64 %67, %32
  br i1 %68, label %51, label %52
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
declare i32 @getpid() local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #8

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
define internal noalias noundef nonnull ptr @worker(ptr noundef %0) #9 {
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
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #12
  %13 = getelementptr inbounds nuw i8, ptr %11, i64 8
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(144) %13, i8 0, i64 144, i1 false)
  store ptr %0, ptr %11, align 8
  %14 = getelementptr inbounds nuw i8, ptr %11, i64 136
  store i64 -1, ptr %14, align 8
  %15 = getelementptr inbounds nuw i8, ptr %11, i64 144
  store i32 -1, ptr %15, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #12
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %12, ptr noundef nonnull align 8 dereferenceable(16) @__const.worker.caller, i64 16, i1 false)
  %16 = load i32, ptr @key, align 4
  %17 = call i32 @pthread_setspecific(i32 noundef %16, ptr noundef nonnull %12) #12
  %18 = call i64 asm sideeffect "mrs $0, fpcr", "=r"() #12
  %19 = or i64 %18, 16777216
  call void asm sideeffect "msr fpcr, $0", "r"(i64 %19) #12
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #12
  %20 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %10) #12
  %21 = load i64, ptr %10, align 8
  %22 = mul nsw i64 %21, 1000000000
  %23 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %24 = load i64, ptr %23, align 8
  %25 = add nsw i64 %22, %24
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #12
  %26 = getelementptr inbounds nuw i8, ptr %11, i64 8
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 384
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 4
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 896
  %32 = getelementptr inbounds nuw i8, ptr %11, i64 148
  %33 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %34 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %35 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %36 = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %37

37:                                               ; preds = %301, %1
  %38 = phi i32 [ 1, %1 ], [ %303, %301 ]
  %39 = phi i64 [ %25, %1 ], [ %302, %301 ]
  %40 = load atomic i32, ptr %27 monotonic, align 128
  %41 = load atomic i32, ptr %28 monotonic, align 128
  %42 = add nsw i32 %41, %40
  %43 = load i32, ptr %29, align 4
  %44 = icmp slt i32 %42, %43
  br i1 %44, label %45, label %201

45:                                               ; preds = %37
  %46 = load atomic i32, ptr %30 acquire, align 8
  %47 = icmp sgt i32 %46, 0
  br i1 %47, label %48, label %201

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
  br i1 %65, label %201, label %50

66:                                               ; preds = %58
  %67 = load ptr, ptr %11, align 8
  %68 = getelementptr inbounds nuw i8, ptr %52, i64 56
  %69 = load atomic i32, ptr %68 monotonic, align 8
  store i32 %69, ptr %15, align 8
  %70 = call i32 @sched_getcpu() #12
  %71 = icmp eq i32 %70, %69
  br i1 %71, label %72, label %90

72:                                               ; preds = %66
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #12
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
  %85 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %9) #12
  %86 = icmp sgt i32 %85, 0
  br i1 %86, label %87, label %89

87:                                               ; preds = %84
  %88 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %9) #12
  br label %89

89:                                               ; preds = %87, %84
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #12
  store i32 1, ptr %32, align 4
  br label %90

90:                                               ; preds = %89, %66
  %91 = load atomic i64, ptr %52 seq_cst, align 128
  %92 = lshr i64 %91, 32
  %93 = getelementptr inbounds nuw i8, ptr %67, i64 896
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
  %104 = trunc nuw i64 %103 to i32
  %105 = trunc i64 %102 to i32
  %106 = lshr i32 %105, 16
  %107 = zext nneg i32 %106 to i64
  br label %108

108:                                              ; preds = %115, %90
  %109 = phi i64 [ %102, %90 ], [ %119, %115 ]
  %110 = lshr i64 %109, 32
  %111 = icmp eq i64 %110, %103
  %112 = and i64 %109, 65535
  %113 = icmp samesign ult i64 %112, %107
  %114 = select i1 %111, i1 %113, i1 false
  br i1 %114, label %115, label %184

115:                                              ; preds = %108
  %116 = add i64 %109, 1
  %117 = cmpxchg weak ptr %52, i64 %109, i64 %116 acq_rel acquire, align 128
  %118 = extractvalue { i64, i1 } %117, 1
  %119 = extractvalue { i64, i1 } %117, 0
  br i1 %118, label %120, label %108

120:                                              ; preds = %115
  %121 = trunc i64 %109 to i32
  %122 = and i32 %121, 65535
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #12
  %123 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %8) #12
  %124 = load i64, ptr %8, align 8
  %125 = mul nsw i64 %124, 1000000000
  %126 = load i64, ptr %33, align 8
  %127 = add nsw i64 %125, %126
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #12
  %128 = icmp slt i64 %101, 0
  %129 = add nuw nsw i32 %122, 1
  %130 = icmp samesign ult i32 %129, %106
  %131 = select i1 %128, i1 %130, i1 false
  br i1 %131, label %132, label %142

132:                                              ; preds = %120
  %133 = getelementptr inbounds nuw i8, ptr %67, i64 512
  %134 = load atomic i32, ptr %133 seq_cst, align 128
  %135 = icmp sgt i32 %134, 0
  br i1 %135, label %136, label %142

136:                                              ; preds = %132
  %137 = getelementptr inbounds nuw i8, ptr %67, i64 644
  %138 = call i32 @sched_getcpu() #12
  store atomic i32 %138, ptr %137 monotonic, align 4
  %139 = getelementptr inbounds nuw i8, ptr %67, i64 640
  %140 = atomicrmw add ptr %139, i32 1 seq_cst, align 128
  %141 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %139, i32 noundef 129, i32 noundef range(i32 1, 3) 2, ptr noundef null, ptr noundef null, i32 noundef 0) #12
  br label %142

142:                                              ; preds = %136, %132, %120
  %143 = call fastcc i32 @take_steps(ptr noundef nonnull %52, i32 noundef %104, i32 noundef %106, i32 noundef %122, ptr noundef %67)
  %144 = icmp eq i32 %143, 0
  br i1 %144, label %184, label %145

145:                                              ; preds = %142
  %146 = getelementptr inbounds nuw i8, ptr %52, i64 40
  %147 = load i32, ptr %146, align 8
  %148 = getelementptr inbounds nuw i8, ptr %52, i64 48
  %149 = load atomic i64, ptr %148 monotonic, align 16
  %150 = sub i64 %127, %149
  br i1 %128, label %151, label %161

151:                                              ; preds = %145
  %152 = getelementptr inbounds nuw i8, ptr %67, i64 168
  %153 = load atomic i64, ptr %152 monotonic, align 8
  %154 = shl nsw i64 %153, 3
  %155 = icmp sgt i64 %150, %154
  br i1 %155, label %173, label %156

156:                                              ; preds = %151
  %157 = sub nsw i64 %150, %153
  %158 = sdiv i64 %157, 8
  %159 = add nsw i64 %158, %153
  %160 = call i64 @llvm.smax.i64(i64 %159, i64 50)
  store atomic i64 %160, ptr %152 monotonic, align 8
  br label %173

161:                                              ; preds = %145
  %162 = icmp slt i64 %101, %149
  br i1 %162, label %163, label %173

163:                                              ; preds = %161
  %164 = getelementptr inbounds nuw i8, ptr %67, i64 160
  %165 = load atomic i64, ptr %164 monotonic, align 8
  %166 = shl nsw i64 %165, 3
  %167 = icmp sgt i64 %150, %166
  br i1 %167, label %173, label %168

168:                                              ; preds = %163
  %169 = sub nsw i64 %150, %165
  %170 = sdiv i64 %169, 8
  %171 = add nsw i64 %170, %165
  %172 = call i64 @llvm.smax.i64(i64 %171, i64 50)
  store atomic i64 %172, ptr %164 monotonic, align 8
  br label %173

173:                                              ; preds = %168, %163, %161, %156, %151
  %174 = getelementptr inbounds nuw i8, ptr %52, i64 128
  %175 = atomicrmw add ptr %174, i32 %143 acq_rel, align 128
  %176 = and i32 %175, 1073741824
  %177 = icmp eq i32 %176, 0
  br i1 %177, label %184, label %178

178:                                              ; preds = %173
  %179 = and i32 %175, -1073741825
  %180 = add i32 %179, %143
  %181 = icmp eq i32 %180, %147
  br i1 %181, label %182, label %184

182:                                              ; preds = %178
  %183 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %174, i32 noundef 129, i32 noundef 1, ptr noundef null, ptr noundef null, i32 noundef 0) #12
  br label %184

184:                                              ; preds = %108, %182, %178, %173, %142
  %185 = atomicrmw sub ptr %99, i32 1 monotonic, align 128
  %186 = load i32, ptr %32, align 4
  %187 = icmp eq i32 %186, 0
  br i1 %187, label %195, label %188

188:                                              ; preds = %184
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #12
  %189 = getelementptr inbounds nuw i8, ptr %67, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %7, ptr noundef nonnull readonly align 8 dereferenceable(128) %189, i64 128, i1 false)
  %190 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %7) #12
  %191 = icmp sgt i32 %190, 0
  br i1 %191, label %192, label %194

192:                                              ; preds = %188
  %193 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %7) #12
  br label %194

194:                                              ; preds = %192, %188
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #12
  br label %195

195:                                              ; preds = %184, %194
  store i32 0, ptr %32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #12
  %196 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %6) #12
  %197 = load i64, ptr %6, align 8
  %198 = mul nsw i64 %197, 1000000000
  %199 = load i64, ptr %34, align 8
  %200 = add nsw i64 %198, %199
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #12
  store i64 %200, ptr %14, align 8
  br label %301

201:                                              ; preds = %63, %37, %45
  call void asm sideeffect "yield", ""() #12
  %202 = and i32 %38, 15
  %203 = icmp eq i32 %202, 0
  br i1 %203, label %204, label %301

204:                                              ; preds = %201
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #12
  %205 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %5) #12
  %206 = load i64, ptr %5, align 8
  %207 = mul nsw i64 %206, 1000000000
  %208 = load i64, ptr %35, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #12
  %209 = sub i64 %208, %39
  %210 = add i64 %209, %207
  %211 = icmp slt i64 %210, 100000
  br i1 %211, label %301, label %212

212:                                              ; preds = %204
  %213 = load ptr, ptr %11, align 8
  %214 = getelementptr inbounds nuw i8, ptr %213, i64 640
  %215 = load atomic i32, ptr %214 seq_cst, align 128
  %216 = load ptr, ptr %11, align 8
  %217 = load i32, ptr %15, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #12
  %218 = getelementptr inbounds nuw i8, ptr %216, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %4, ptr noundef nonnull readonly align 8 dereferenceable(128) %218, i64 128, i1 false)
  %219 = icmp ult i32 %217, 1024
  br i1 %219, label %220, label %229

220:                                              ; preds = %212
  %221 = zext nneg i32 %217 to i64
  %222 = and i64 %221, 63
  %223 = shl nuw i64 1, %222
  %224 = xor i64 %223, -1
  %225 = lshr i64 %221, 6
  %226 = getelementptr inbounds nuw i64, ptr %4, i64 %225
  %227 = load i64, ptr %226, align 8
  %228 = and i64 %227, %224
  store i64 %228, ptr %226, align 8
  br label %229

229:                                              ; preds = %220, %212
  %230 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %4) #12
  %231 = icmp sgt i32 %230, 0
  br i1 %231, label %232, label %234

232:                                              ; preds = %229
  %233 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %4) #12
  br label %234

234:                                              ; preds = %232, %229
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #12
  store i32 1, ptr %32, align 4
  %235 = getelementptr inbounds nuw i8, ptr %213, i64 512
  %236 = atomicrmw add ptr %235, i32 1 seq_cst, align 128
  %237 = getelementptr inbounds nuw i8, ptr %213, i64 256
  %238 = load atomic i32, ptr %237 monotonic, align 128
  %239 = getelementptr inbounds nuw i8, ptr %213, i64 384
  %240 = load atomic i32, ptr %239 monotonic, align 128
  %241 = add nsw i32 %240, %238
  %242 = getelementptr inbounds nuw i8, ptr %213, i64 4
  %243 = load i32, ptr %242, align 4
  %244 = icmp slt i32 %241, %243
  br i1 %244, label %245, label %268

245:                                              ; preds = %234
  %246 = getelementptr inbounds nuw i8, ptr %213, i64 152
  %247 = load atomic i32, ptr %246 acquire, align 8
  %248 = icmp sgt i32 %247, 0
  br i1 %248, label %249, label %268

249:                                              ; preds = %245
  %250 = getelementptr inbounds nuw i8, ptr %213, i64 896
  %251 = zext nneg i32 %247 to i64
  br label %252

252:                                              ; preds = %265, %249
  %253 = phi i64 [ 0, %249 ], [ %266, %265 ]
  %254 = getelementptr inbounds nuw %struct.region, ptr %250, i64 %253
  %255 = load atomic i64, ptr %254 acquire, align 128
  %256 = lshr i64 %255, 32
  %257 = getelementptr inbounds nuw i64, ptr %26, i64 %253
  %258 = load i64, ptr %257, align 8
  %259 = icmp eq i64 %256, %258
  br i1 %259, label %265, label %260

260:                                              ; preds = %252
  %261 = and i64 %255, 65535
  %262 = lshr i64 %255, 16
  %263 = and i64 %262, 65535
  %264 = icmp samesign ult i64 %261, %263
  br i1 %264, label %270, label %265

265:                                              ; preds = %260, %252
  %266 = add nuw nsw i64 %253, 1
  %267 = icmp eq i64 %266, %251
  br i1 %267, label %268, label %252

268:                                              ; preds = %265, %245, %234
  %269 = call i64 (i64, ...) @syscall(i64 noundef 98, ptr noundef nonnull %214, i32 noundef 128, i32 noundef %215, ptr noundef null, ptr noundef null, i32 noundef 0) #12
  br label %270

270:                                              ; preds = %260, %268
  %271 = atomicrmw sub ptr %235, i32 1 seq_cst, align 128
  %272 = getelementptr inbounds nuw i8, ptr %213, i64 644
  %273 = load atomic i32, ptr %272 monotonic, align 4
  store i32 %273, ptr %15, align 8
  %274 = call i32 @sched_getcpu() #12
  %275 = icmp eq i32 %274, %273
  br i1 %275, label %276, label %295

276:                                              ; preds = %270
  %277 = load ptr, ptr %11, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #12
  %278 = getelementptr inbounds nuw i8, ptr %277, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(128) %3, ptr noundef nonnull readonly align 8 dereferenceable(128) %278, i64 128, i1 false)
  %279 = icmp ult i32 %273, 1024
  br i1 %279, label %280, label %289

280:                                              ; preds = %276
  %281 = zext nneg i32 %273 to i64
  %282 = and i64 %281, 63
  %283 = shl nuw i64 1, %282
  %284 = xor i64 %283, -1
  %285 = lshr i64 %281, 6
  %286 = getelementptr inbounds nuw i64, ptr %3, i64 %285
  %287 = load i64, ptr %286, align 8
  %288 = and i64 %287, %284
  store i64 %288, ptr %286, align 8
  br label %289

289:                                              ; preds = %280, %276
  %290 = call i32 @__sched_cpucount(i64 noundef 128, ptr noundef nonnull %3) #12
  %291 = icmp sgt i32 %290, 0
  br i1 %291, label %292, label %294

292:                                              ; preds = %289
  %293 = call i32 @sched_setaffinity(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %3) #12
  br label %294

294:                                              ; preds = %292, %289
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #12
  store i32 1, ptr %32, align 4
  br label %295

295:                                              ; preds = %270, %294
  store i64 -1, ptr %14, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %2) #12
  %296 = call i32 @clock_gettime(i32 noundef 1, ptr noundef nonnull %2) #12
  %297 = load i64, ptr %2, align 8
  %298 = mul nsw i64 %297, 1000000000
  %299 = load i64, ptr %36, align 8
  %300 = add nsw i64 %298, %299
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #12
  br label %301

301:                                              ; preds = %201, %204, %295, %195
  %302 = phi i64 [ %200, %195 ], [ %300, %295 ], [ %39, %204 ], [ %39, %201 ]
  %303 = add i32 %38, 1
  br label %37
}

; Function Attrs: nounwind
declare i32 @pthread_attr_destroy(ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @sched_getcpu() local_unnamed_addr #1

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
  tail call void %78(ptr noundef %79, i64 noundef %75, i64 noundef %77, i64 noundef %16) #12
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
declare i64 @syscall(i64 noundef, ...) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @sched_setaffinity(i32 noundef, i64 noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: nounwind
declare i32 @clock_gettime(i32 noundef, ptr noundef) local_unnamed_addr #1

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: read)
define internal i64 @skip_below(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, float noundef %3) unnamed_addr #10 {
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
define internal i64 @skip_above(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2, float noundef %3) unnamed_addr #10 {
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
declare i64 @llvm.smin.i64(i64, i64) #11

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smin.i32(i32, i32) #11

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #11

attributes #0 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: none, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-trapping-math"="true" }
attributes #1 = { nounwind "no-trapping-math"="true" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #4 = { nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-trapping-math"="true" }
attributes #5 = { nofree norecurse nounwind memory(readwrite, target_mem0: none, target_mem1: none) "no-trapping-math"="true" }
attributes #6 = { nofree norecurse nosync nounwind memory(read, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-trapping-math"="true" }
attributes #7 = { mustprogress nofree norecurse nosync nounwind willreturn memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-trapping-math"="true" }
attributes #8 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #9 = { noreturn nounwind "no-trapping-math"="true" }
attributes #10 = { nofree norecurse nosync nounwind memory(argmem: read) "no-trapping-math"="true" }
attributes #11 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #12 = { nounwind }


