package casebook.segments.spark;

import casebook.segments.SegmentName;

/**
 * A listed file.
 *
 * @param path its URI
 * @param name topic, partition and base offset from its path; of a bundle, none
 * @param length in bytes
 * @param ceiling all offsets in it are lower: the base of the next segment in its folder
 * @param bundle whether it packs segments
 */
record Listed(String path, SegmentName name, long length, long ceiling, boolean bundle) {}
