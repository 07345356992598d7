/**
 * Classes of calls between the domains, by who waits for them. Each class has its own share of a
 * connection's window: whatever people do at the console, a signature finds room.
 *
 * | class | calls | a caller without room |
 * |---|---|---|
 * | signing | sessions, approvals, signatures | is a batch, whose intents are UNAVAILABLE |
 * | lookup | a key's grant before its first signature; whether the peer answers | UNAVAILABLE |
 * | console | key generation, grants, authorizers, refreshes: expensive, and no send waits | OVERLOADED |
 */
export type CallClass = 'signing' | 'lookup' | 'console'

/** The bound of a connection's unanswered calls. */
export const CALLS_IN_FLIGHT_MAX: Readonly<Record<CallClass, number>> = {
  // FULL_BATCHES_IN_FLIGHT_MAX, the calls that make sessions, and as many again for calls given up.
  signing: 32,
  // A starting service asks once for each key in use.
  lookup: 192,
  // More than the service ever runs (CONSOLE_AT_WORK_MAX): calls given up count until they are
  // answered.
  console: 32,
}
