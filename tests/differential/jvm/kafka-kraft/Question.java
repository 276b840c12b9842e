package org.apache.kafka.controller;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;

/** One question, a line of tab-separated fields; "-" is an empty list, "=" the ISR as it is. */
final class Question {
    final List<Integer> replicas;
    final List<Integer> adding;
    final List<Integer> removing;
    final List<Integer> isr;
    final List<Integer> elr;
    final List<Integer> lastKnownElr;
    final int leader;
    final byte recovery;
    final List<Integer> active;
    final boolean elrEnabled;
    final int minIsr;
    final boolean unclean;
    final String election;
    final List<Integer> targetIsr;
    final List<Integer> lost;
    final List<String> events;

    Question(String line) {
        String[] fields = line.split("\t");
        replicas = ids(fields[0]);
        adding = ids(fields[1]);
        removing = ids(fields[2]);
        isr = ids(fields[3]);
        elr = ids(fields[4]);
        lastKnownElr = ids(fields[5]);
        leader = Integer.parseInt(fields[6]);
        recovery = Byte.parseByte(fields[7]);
        active = ids(fields[8]);
        elrEnabled = Boolean.parseBoolean(fields[9]);
        minIsr = Integer.parseInt(fields[10]);
        unclean = Boolean.parseBoolean(fields[11]);
        election = fields[12];
        targetIsr = fields[13].equals("=") ? null : ids(fields[13]);
        lost = ids(fields[14]);
        events = fields[15].equals("-") ? List.of() : List.of(fields[15].split(","));
    }

    PartitionRegistration partition() {
        return new PartitionRegistration.Builder()
            .setReplicas(array(replicas))
            .setDirectories(DirectoryId.unassignedArray(replicas.size()))
            .setAddingReplicas(array(adding))
            .setRemovingReplicas(array(removing))
            .setIsr(array(isr))
            .setElr(array(elr))
            .setLastKnownElr(array(lastKnownElr))
            .setLeader(leader)
            .setLeaderRecoveryState(LeaderRecoveryState.of(recovery))
            .setLeaderEpoch(7)
            .setPartitionEpoch(9)
            .build();
    }

    private static int[] array(List<Integer> ids) {
        return ids.stream().mapToInt(Integer::intValue).toArray();
    }

    private static List<Integer> ids(String field) {
        List<Integer> ids = new ArrayList<>();
        if (!field.equals("-")) {
            for (String id : field.split(",")) {
                ids.add(Integer.valueOf(id));
            }
        }
        return ids;
    }
}
