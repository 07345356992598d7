/**
 * Calls between the domains by what waits for them. Each class has a share of a connection's window
 * that the others cannot take: whatever people do at the console, a signature finds room.
 *
 * | class | calls | a caller without room |
 * |---|---|---|
 * | signing | sessions, approvals, signatures | is a batch, whose intents are UNAVAILABLE |
 * | lookup | which grant a key is under, before its first signature; whether the peer answers | UNAVAILABLE |
 * | console | key generation, grants, authorizers, refreshes: expensive, nobody's send waits for them | OVERLOADED |
 */
export type CallClass = 'signing' | 'lookup' | 'console'

/** Unanswered calls of one connection. */
export const CALLS_IN_FLIGHT_MAX: Readonly<Record<CallClass, number>> = {
  // FULL_BATCHES_IN_FLIGHT_MAX, what makes the sessions, and as much again for calls given up.
  signing: 32,
  // A service that starts asks for each key at work once.
  lookup: 192,
  // More than the service ever has at work (CONSOLE_AT_WORK_MAX): calls given up count until answered.
  console: 32,
}

const CLASSES: ReadonlyMap<string, CallClass> = new Map<string, CallClass>([
  ...['hello', 'session', 'registry', 'boot', 'approve', 'sign'].map(
    (method) => [method, 'signing'] as const,
  ),
  ['grant-get', 'lookup'],
  ['ping', 'lookup'],
])

/** Whatever is not known for another is console work. */
export function classOf(method: string): CallClass {
  return CLASSES.get(method) ?? 'console'
}
