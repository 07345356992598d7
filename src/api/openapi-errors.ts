import { CATALOGUE, type ErrorCode } from '../errors/catalogue.js'
import type { JsonSchema, JsonValue } from './json-schema.js'

/** Error responses of one operation: one per status, with the codes that may have it. */

/** Codes that any route with a body may answer. */
export const BODY_ERRORS = [
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
] as const satisfies readonly ErrorCode[]

export const CONSOLE_ERRORS = [
  'INVALID_REQUEST',
  'INVALID_TOKEN',
  'PERMISSION_DENIED',
  'RATE_LIMITED',
  'OVERLOADED',
  'WRITES_STOPPED',
  'RECORD_DAMAGED',
  'OUTCOME_UNKNOWN',
  'INTERNAL',
] as const satisfies readonly ErrorCode[]

export function errorResponses(codes: readonly ErrorCode[]): Record<string, JsonSchema> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set(codes)) {
    const { status } = CATALOGUE[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const statuses = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(
    statuses.map(([status, group]) => [String(status), errorResponseOf(status, group)]),
  )
}

function errorResponseOf(status: number, codes: readonly ErrorCode[]): JsonSchema {
  const examples: { [code: string]: JsonValue } = {}
  for (const code of codes) examples[code] = { value: exampleError(code) }
  return {
    description: codes.map((code) => `\`${code}\`: ${CATALOGUE[code].message}`).join('\n\n'),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/XRequestId' },
      ...(status === 429 || status === 503 || status === 504
        ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }
        : {}),
      ...(status === 415
        ? { 'Accept-Encoding': { $ref: '#/components/headers/AcceptEncoding' } }
        : {}),
    },
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            {
              // The reference above names the other fields; linters read an absent list as
              // "nothing".
              properties: {
                error: {
                  properties: { code: { enum: [...codes] } },
                  additionalProperties: true,
                },
              },
            },
          ],
        },
        examples,
      },
    },
  }
}

function exampleError(code: ErrorCode): JsonValue {
  return {
    error: {
      code,
      message: CATALOGUE[code].message,
      details: exampleDetails(code),
      request_id: '6f1c2b7e-7c1f-4f0e-9a53-0f4f6c3f2a11',
    },
  }
}

function exampleDetails(code: ErrorCode): { [key: string]: JsonValue } {
  switch (code) {
    case 'INVALID_REQUEST':
      return { issues: [{ path: 'to', message: 'must be 0x and 40 hex digits' }] }
    case 'CHAIN_NOT_ALLOWED':
      return { chain_id: 10, allowed_chains: [1, 8453] }
    case 'LIMIT_EXCEEDED':
      return {
        period: 'daily',
        limit_usd: '500.00',
        used_usd: '498.20',
        reserved_usd: '0.00',
        requested_usd: '3.12',
        resets_at: '2026-11-21T00:00:00.000Z',
      }
    case 'WRITES_STOPPED':
      return { reason: 'clock' }
    case 'OUTCOME_UNKNOWN':
      return { reason: 'journal' }
    case 'RECORD_DAMAGED':
      return { space: 'transactions' }
    case 'ADDRESS_BLOCKED':
      return {
        address: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
        list: 'ofac-sdn',
        version: '9c1e6d0b7f2a4453',
        path: 'multiSend[2] → multicall[0] → exactInputSingle.recipient',
      }
    case 'AUTHORIZATION_REQUIRED':
      return {
        authorization_id: 'authz_pG3mD0nqJf2y8rW1sKzXbA',
        enlarges: ['daily_limit_usd'],
        grant: 'QVdHMQGa…',
        grant_version: 2,
        challenge: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
        confirm_before: '2026-11-21T00:10:00.000Z',
        authorizers: [
          {
            authorizer_id: 'aut_5f2b9c1e7a3d4f60812b6c9d0e1f2a3b',
            kind: 'p256',
            label: 'command line',
            credential_id: null,
          },
        ],
        confirm_url: 'https://id.example.com/authorizers/confirm?grant=QVdHMQGa…',
        manage_url: 'https://id.example.com/authorizers',
      }
    case 'AUTHORIZATION_REFUSED':
      return { reason: 'the grant changed in the meantime' }
    case 'QUOTA_EXCEEDED':
      return { quota: 'webhooks', limit: 100 }
    case 'SIMULATION_REVERTED':
      return { reason: 'ERC20: transfer amount exceeds balance' }
    case 'DUPLICATE_SUSPECTED':
      return { tx_id: 'tx_01KAJ5Q4Z7R8M2V9C3T6W1X0YB' }
    case 'RATE_LIMITED':
      return { retry_after_seconds: 1 }
    default:
      return {}
  }
}
