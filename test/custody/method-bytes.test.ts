import { Packr } from 'msgpackr'
import { describe, expect, test } from 'vitest'
import type { Codec } from '../../src/quorum-protocol/methods/codec.js'
import type { Methods } from '../../src/quorum-protocol/methods/method.js'
import { QUORUM_SIGNER } from '../../src/quorum-protocol/methods/quorum-signer.js'
import { USER_SIDE } from '../../src/quorum-protocol/methods/user-side.js'
import recorded from './method-bytes.json' with { type: 'json' }

/**
 * Calls and their answers as domains sent them to each other before there was a table of methods,
 * and the position of each field then. Domains of different builds speak to each other while a
 * cluster is updated: a list may get longer, and nothing else may change.
 */
type Recorded = Readonly<Record<string, readonly { parameters: string; result: string }[]>>

const USER_SIDE_FIELDS = {
  hello: {
    parameters: 'registryBody registrySignature lastApproved statement',
    result: 'lane remembered',
  },
  session: { parameters: 'quorumBoot', result: null },
  approve: {
    parameters: 'header intents coSignature',
    result: 'bitmap approval quorumBoot answers shares',
  },
  'grant-get': { parameters: 'keyId', result: 'grantId version' },
  'grant-put': {
    parameters:
      'keyId walletId rotatedFrom userId permission allowedChains proofKey expiresAtMs revoked consoleToken confirmation dailyLimitMicros monthlyLimitMicros unpricedAssets confirmBeforeMs basedOn policy mayDelegate parentId madeBy makerProof',
    result: 'grantId version proof',
  },
  'authorizers-get': { parameters: 'ownerHash after', result: null },
  'proof-get': { parameters: 'challenge', result: null },
  'freeze-put': { parameters: 'scope subject userId', result: 'sequence sinceMs' },
  'freeze-get': { parameters: 'scope subject', result: 'sequence sinceMs' },
  'freeze-lift': {
    parameters: 'scope subject userId consoleToken confirmation confirmBeforeMs sequence',
    result: 'sequence proof',
  },
  'approval-ask': {
    parameters:
      'term userId call needed delaySeconds rule spendUsd keyProof payeeLabel askedAgain names',
    result: null,
  },
  'approval-give': { parameters: 'approvalId proof consoleToken', result: 'authorizerId proof' },
  'approval-end': { parameters: 'approvalId as', result: null },
  'approval-decisions': { parameters: 'after', result: null },
  'member-plan': {
    parameters: 'accountId action who consoleToken',
    result: 'personId email byId sequence role',
  },
  'member-put': { parameters: 'statement proof consoleToken', result: null },
  'members-changed': { parameters: 'epoch after', result: 'epoch accounts' },
  'members-get': { parameters: 'accountId after', result: 'sequence members changes' },
  'keygen-commit': {
    parameters: 'sessionId walletId kind ownerHash commitment',
    result: 'commitment',
  },
  'keygen-reveal': { parameters: 'sessionId point nonce', result: 'point nonce' },
  'keygen-prove': { parameters: 'sessionId proof', result: 'proof request share boot' },
  'keygen-certify': {
    parameters: 'walletId certificate serviceSignature selfTest',
    result: 'userSignature',
  },
  'keygen-status': {
    parameters: 'walletId',
    result: 'certificate serviceSignature userSignature selfTest',
  },
  'refresh-begin': { parameters: 'sessionId walletId epoch commitment', result: 'part' },
  'refresh-prepare': { parameters: 'sessionId part nonce', result: 'request share boot' },
  'refresh-certify': {
    parameters: 'walletId certificate serviceSignature selfTest',
    result: 'userSignature',
  },
} as const

const QUORUM_SIGNER_FIELDS = {
  registry: { parameters: 'body signature', result: null },
  boot: { parameters: '', result: null },
  session: { parameters: 'offer', result: null },
  'self-test': {
    parameters: 'certificate serviceSignature userSignature userShare serviceShare',
    result: null,
  },
  sign: {
    parameters: 'header intents coSignature bitmap approval userShares serviceShares',
    result: null,
  },
} as const

type FieldsOf = Readonly<
  Record<string, { readonly parameters: string; readonly result: string | null }>
>

/** The codec of `frames.ts`. */
const packr = new Packr({ useRecords: false, moreTypes: false, structuredClone: false })
const hexOf = (value: unknown) => Buffer.from(packr.pack(value)).toString('hex')
const unpacked = (hex: string): unknown => packr.unpack(Buffer.from(hex, 'hex'))

describe.each([
  ['the identity provider', USER_SIDE, recorded.userSide, USER_SIDE_FIELDS],
  ['the quorum signer', QUORUM_SIGNER, recorded.quorumSigner, QUORUM_SIGNER_FIELDS],
] as [string, Methods, Recorded, FieldsOf][])('%s', (_, methods, calls, fields) => {
  test('has on record each of its methods', () => {
    const names = Object.keys(methods).filter((name) => name !== 'ping')
    expect(Object.keys(calls).sort()).toEqual(names.sort())
    expect(Object.keys(fields).sort()).toEqual(names)
  })

  test.each(Object.keys(fields))('reads and writes the bytes on record of %s', (name) => {
    const { parameters, result } = methods[name] ?? absent()
    const { parameters: asked, result: answered } = fields[name] ?? absent()
    for (const call of calls[name] ?? absent()) {
      requireSame(parameters, call.parameters, asked)
      requireSame(result, call.result, answered)
    }
  })
})

/** @param names of the fields by their position; null for a value that is no list of fields */
function requireSame(codec: Codec<unknown>, hex: string, names: string | null): void {
  const packed = unpacked(hex)
  const read = codec.decode(packed)
  expect(hexOf(codec.encode(read))).toBe(hex)
  if (names === null || read === null) return
  const inOrder = names.split(' ').filter((name) => name !== '')
  expect(Object.keys(read as object).sort()).toEqual([...inOrder].sort())
  // Each name has the value at its position.
  const values = read as Readonly<Record<string, unknown>>
  const list = packed as readonly unknown[]
  for (const [at, name] of inOrder.entries()) {
    const value = values[name]
    const isPlain = value === null || typeof value !== 'object' || value instanceof Uint8Array
    if (isPlain && !RENAMED.has(name)) expect(value ?? null).toEqual(list[at] ?? null)
  }
}

/** Fields whose values have another form on the wire. */
const RENAMED: ReadonlySet<string> = new Set([
  'scope',
  'kind',
  'dailyLimitMicros',
  'monthlyLimitMicros',
])

function absent(): never {
  throw new Error('not on record')
}
