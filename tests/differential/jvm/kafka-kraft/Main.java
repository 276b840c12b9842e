package org.apache.kafka.controller;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/** Reads questions from stdin and writes, for each, the partition that Kafka's own KRaft controller leaves behind. */
public final class Main {
    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Question question = new Question(line);
            List<String> answers = question.events.isEmpty() ? List.of(built(question)) : Cluster.answers(question);
            out.println(String.join("\t", answers));
        }
        out.flush();
        System.exit(out.checkError() ? 1 : 0);
    }

    /** One run of the builder, over the broker ids that may lead. */
    private static String built(Question question) {
        PartitionRegistration before = question.partition();
        PartitionChangeBuilder builder = Release.builder(before, question.active::contains, question.minIsr, question.elrEnabled)
            .setElection(PartitionChangeBuilder.Election.valueOf(question.election))
            .setDefaultDirProvider(broker -> DirectoryId.UNASSIGNED);
        if (question.targetIsr != null) {
            builder.setTargetIsr(question.targetIsr);
        }
        if (!question.lost.isEmpty()) {
            builder.setUncleanShutdownReplicas(question.lost);
        }
        Optional<ApiMessageAndVersion> record = builder.build();
        PartitionRegistration after = record.isPresent() ? before.merge((PartitionChangeRecord) record.get().message()) : before;
        return shown(after, record.isPresent());
    }

    static String shown(PartitionRegistration partition, boolean written) {
        return String.join(" ",
            ids(partition.replicas), ids(partition.addingReplicas), ids(partition.removingReplicas), ids(partition.isr), ids(partition.elr),
            ids(partition.lastKnownElr), String.valueOf(partition.leader), String.valueOf(partition.leaderRecoveryState.value()),
            String.valueOf(partition.leaderEpoch), String.valueOf(partition.partitionEpoch), String.valueOf(written));
    }

    private static String ids(int[] ids) {
        return ids.length == 0 ? "-" : Arrays.stream(ids).mapToObj(String::valueOf).collect(Collectors.joining(","));
    }

}
