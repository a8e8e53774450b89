package io.github.snowlease;

/**
 * The spans that only this process cares about, in milliseconds.
 *
 * @param heartbeatMillis mean time between two renewals; each is off by up to 20 %, so that
 *     processes which started together do not stay together
 * @param acquireTimeoutMillis how long a start may wait for its first lease
 * @param maxWaitMillis how long a call may wait for an id
 */
record LeaseTimings(long heartbeatMillis, long acquireTimeoutMillis, long maxWaitMillis) {}
