// The work that `benchmarks.detection.flink_cep` gives to Flink CEP: SEQ(A, B, C) under skip-till-any-match.
//
// java FlinkCep EVENTS WINDOW_MS FACTOR: EVENTS has 13 bytes for each event, in the order of time: its type (0 to 9), its
// time in milliseconds and its value. A match is taken if A.v * FACTOR < C.v; 0 takes all. Every run prints its kind, its
// seconds on the wall, its processor seconds and what it has counted: events, or matches with the numbers of their events.

import java.io.DataInputStream;
import java.io.BufferedInputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

public class FlinkCep {
    private static final int RUNS = 3;

    private static byte[] types;
    private static long[] times;
    private static int[] values;
    private static long counted;

    public static class Event {
        public int id;
        public int type;
        public int value;

        public Event() {}

        public Event(int id) {
            this.id = id;
            this.type = types[id];
            this.value = values[id];
        }
    }

    public static void main(String[] arguments) throws Exception {
        read(Path.of(arguments[0]));
        Duration window = Duration.ofMillis(Long.parseLong(arguments[1]));
        int factor = Integer.parseInt(arguments[2]);
        for (int run = 0; run < RUNS; run++) {
            measure("read", window, factor);
            measure("matched", window, factor);
        }
    }

    private static void read(Path path) throws Exception {
        int count = (int) (Files.size(path) / 13);
        types = new byte[count];
        times = new long[count];
        values = new int[count];
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))) {
            for (int id = 0; id < count; id++) {
                types[id] = in.readByte();
                times[id] = in.readLong();
                values[id] = in.readInt();
            }
        }
    }

    private static void measure(String kind, Duration window, int factor) throws Exception {
        counted = 0;
        StreamExecutionEnvironment flink = StreamExecutionEnvironment.createLocalEnvironment(1);
        flink.getConfig().enableObjectReuse();
        DataStream<Event> events = flink.fromSequence(0, types.length - 1)
                .map(id -> new Event(id.intValue()))
                .returns(Event.class)
                .assignTimestampsAndWatermarks(WatermarkStrategy.<Event>forMonotonousTimestamps()
                        .withTimestampAssigner((event, before) -> times[event.id]));
        if (kind.equals("read")) {
            events.map(event -> {
                counted++;
                return event;
            }).returns(Event.class).sinkTo(new DiscardingSink<>());
        } else {
            CEP.pattern(events, pattern(window, factor)).process(new Ids()).sinkTo(new DiscardingSink<>());
        }
        long begin = System.nanoTime();
        long used = processors();
        flink.execute();
        double wall = (System.nanoTime() - begin) / 1e9;
        System.out.printf("%s %.4f %.4f %d%n", kind, wall, (processors() - used) / 1e9, counted);
    }

    private static Pattern<Event, ?> pattern(Duration window, int factor) {
        return Pattern.<Event>begin("a").where(of(0))
                .followedByAny("b").where(of(1))
                .followedByAny("c").where(of(2)).where(new IterativeCondition<Event>() {
                    @Override
                    public boolean filter(Event event, Context<Event> context) throws Exception {
                        if (factor == 0) {
                            return true;
                        }
                        for (Event first : context.getEventsForPattern("a")) {
                            return first.value * factor < event.value;
                        }
                        return false;
                    }
                }).within(window);
    }

    private static SimpleCondition<Event> of(int type) {
        return SimpleCondition.of(event -> event.type == type);
    }

    public static class Ids extends PatternProcessFunction<Event, long[]> {
        @Override
        public void processMatch(Map<String, List<Event>> match, Context context, Collector<long[]> out) {
            counted++;
            out.collect(new long[] {match.get("a").get(0).id, match.get("b").get(0).id, match.get("c").get(0).id});
        }
    }

    private static long processors() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}
