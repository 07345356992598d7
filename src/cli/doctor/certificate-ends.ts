import { concern, type Finding, failure, fine } from './finding.js'

const DAY_MS = 86_400_000
/** A certificate that is renewed automatically never comes this close to its end. */
const CERTIFICATE_DAYS_MIN = 14

/**
 * Adds to a finding how long the certificates remain valid.
 * @param ends the name and end of each, in milliseconds since the epoch
 */
export function whileTheyHold(
  subject: string,
  found: string,
  ends: readonly (readonly [what: string, endMs: number])[],
): Finding {
  const held = ends.map(([what, endMs]) => ({
    what,
    days: Math.floor((endMs - Date.now()) / DAY_MS),
  }))
  const over = held.filter(({ days }) => days < 0).map(({ what }) => what)
  if (over.length > 0) return failure(subject, `has ended: ${over.join(', ')}`, 'renew it')
  const text = `${found}; ${held.map(({ what, days }) => `${what} for ${days} days more`).join(', ')}`
  const near = held.filter(({ days }) => days < CERTIFICATE_DAYS_MIN).map(({ what }) => what)
  return near.length > 0
    ? concern(subject, text, `renew the ${near.join(', the ')}`)
    : fine(subject, text)
}
