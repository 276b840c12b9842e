package casebook.segments.spark;

import casebook.segments.SegmentName;

/**
 * A file that was found.
 *
 * @param path its URI
 * @param name what its path says; of a bundle, nothing
 * @param length in bytes
 * @param ceiling no batch in it has this offset: the base of the next segment in its folder
 * @param bundle whether segments are packed in it
 */
record Listed(String path, SegmentName name, long length, long ceiling, boolean bundle) {}
