package io.github.snowlease.bench;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/** Figures of one run: by subject and name, the median over the rounds. */
final class Results {
  private final Map<Subject, Map<String, List<Double>>> values = new EnumMap<>(Subject.class);

  void add(Subject subject, String figure, double value) {
    values
        .computeIfAbsent(subject, key -> new TreeMap<>())
        .computeIfAbsent(figure, key -> new ArrayList<>())
        .add(value);
  }

  OptionalDouble median(Subject subject, String figure) {
    List<Double> rounds = values.getOrDefault(subject, Map.of()).getOrDefault(figure, List.of());
    if (rounds.isEmpty()) {
      return OptionalDouble.empty();
    }
    List<Double> sorted = rounds.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return OptionalDouble.of(
        sorted.size() % 2 == 1
            ? sorted.get(middle)
            : (sorted.get(middle - 1) + sorted.get(middle)) / 2);
  }
}
