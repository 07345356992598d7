import { describe, expect, test } from 'vitest'
import { claimedSubjectOf, createUnverifiedTokens } from '../../src/auth/unverified-tokens.js'

const ADDRESS_BURST = 100
const SUBJECT_BURST = 10
const policy = { name: 'address', refillPerSecond: 20, burst: ADDRESS_BURST }
const subjectPolicy = { name: 'subject', refillPerSecond: 1, burst: SUBJECT_BURST }

function tokensAt(now: { ms: number }) {
  return createUnverifiedTokens({ policy, subjectPolicy, nowMs: () => now.ms })
}

function callerOf(claimedSubject: string, address = 'gateway') {
  return { address, claimedSubject }
}

/** Verifies forged tokens as long as they are let through. @returns how many were */
function flood(
  tokens: ReturnType<typeof tokensAt>,
  subjectOf: (index: number) => string,
  attempts = 10_000,
): number {
  let verified = 0
  for (let index = 0; index < attempts; index++) {
    const caller = callerOf(subjectOf(index))
    if (!tokens.peek(caller).allowed) continue
    verified++
    tokens.failed(caller)
  }
  return verified
}

describe('console tokens that did not verify', () => {
  test('cost an address no more verifications than its rate, whatever they say', () => {
    const now = { ms: 0 }
    const tokens = tokensAt(now)
    expect(flood(tokens, (index) => `invented-${index}`)).toBe(ADDRESS_BURST)
    now.ms = 1_000
    expect(flood(tokens, (index) => `other-${index}`)).toBe(20)
    expect(tokens.peek(callerOf('anybody', 'elsewhere')).allowed).toBe(true)
  })

  test('that name one subject leave the address room for all others', () => {
    const tokens = tokensAt({ ms: 0 })
    expect(flood(tokens, () => 'one')).toBe(SUBJECT_BURST)
    expect(flood(tokens, () => '')).toBe(SUBJECT_BURST)
    expect(tokens.peek(callerOf('newcomer')).allowed).toBe(true)
  })

  test('that invent subjects leave room to every user who was there', () => {
    const now = { ms: 0 }
    const tokens = tokensAt(now)
    tokens.verified(callerOf('resident'))
    flood(tokens, (index) => `invented-${index}`)
    expect(tokens.peek(callerOf('resident')).allowed).toBe(true)
    expect(tokens.peek(callerOf('resident', 'elsewhere')).allowed).toBe(true)
    now.ms = 8 * 24 * 60 * 60 * 1_000
    flood(tokens, (index) => `later-${index}`)
    expect(tokens.peek(callerOf('resident')).allowed).toBe(false)
  })

  test('that name a user who was there cost that bucket first, and the address bounds the rest', () => {
    const tokens = tokensAt({ ms: 0 })
    tokens.verified(callerOf('resident'))
    expect(flood(tokens, () => 'resident')).toBe(SUBJECT_BURST + ADDRESS_BURST)
    tokens.verified(callerOf('neighbour'))
    expect(tokens.peek(callerOf('neighbour')).allowed).toBe(true)
  })
})

describe('whom a token names', () => {
  const bearer = (payload: string) =>
    `Bearer head.${Buffer.from(payload).toString('base64url')}.signature`

  test('is read without a check of its signature', () => {
    expect(claimedSubjectOf(bearer('{"sub":"usr_1"}'))).toBe('usr_1')
  })

  test('is nobody where it cannot be read', () => {
    const unreadable = ['{"sub":7}', '{}', 'null', '[]', 'not json', '']
    for (const payload of unreadable) expect(claimedSubjectOf(bearer(payload))).toBe('')
    expect(claimedSubjectOf(bearer(JSON.stringify({ sub: 'x'.repeat(256) })))).toBe('')
    for (const header of ['', 'Bearer', 'Bearer a', 'Bearer ...']) {
      expect(claimedSubjectOf(header)).toBe('')
    }
  })
})
