import { z } from 'zod'
import { FORESEEN_BASES } from '../domain/foreseen.js'
import { approvalRecord } from './approvals.js'
import { auditRecord } from './console-records.js'
import { deliveryRecord, eventType } from './console-webhooks.js'
import { timestamp, txId } from './primitives.js'
import { transactionRecord, txStatus } from './transaction.js'

/** What a person looks at: one transaction, or a call that was refused, with all that is known of it. */

export const transactionIdInput = z.strictObject({ tx_id: txId })

const timelineStep = z.enum([
  'decided',
  'refused',
  'approval_requested',
  'approved',
  'signed',
  'broadcast',
  'replaced',
  'cancel_signed',
  'mined',
  'confirmed',
  'failed',
  'dropped',
  'declined',
  'expired',
  'withdrawn',
])

const tokenNamed = {
  token: z.string().nullable().describe('null is native currency'),
  symbol: z
    .string()
    .nullable()
    .describe(
      "as the operator's chains.json has it, of a vault's shares the market's; null: it has not",
    ),
  decimals: z.int().nullable(),
}

const usdThen = z.string().nullable().describe('rounded up, as it was decided; null: no price')

const valuation = z
  .looseObject({
    value_usd: z.string().describe('what the call itself moves out'),
    gas_usd: z.string().nullable().describe('worst-case gas; null where the service was to pay'),
    native_price_usd: z
      .string()
      .nullable()
      .describe('of one native coin, by which gas is settled too; null: not kept'),
    reserved_usd: z
      .string()
      .nullable()
      .describe('what was taken of the caps; null: it was refused'),
    prices: z
      .array(z.looseObject({ ...tokenNamed, usd: z.string().describe('of one whole unit') }))
      .describe('those that it was valued at, as far as they are kept'),
  })
  .nullable()
  .describe('how its spend was valued when it was decided; null: it was refused before that')

const simulation = z
  .looseObject({
    basis: z
      .enum([...FORESEEN_BASES, 'none'])
      .describe(
        'run: by a node; words: a plain transfer, by its calldata; terms: a Router intent, by what it binds to; none: `note` says why',
      ),
    note: z.string().describe('what it rests on, in words, or why nothing is known'),
    gas_used: z.string().nullable().describe('of the run'),
    moves: z.array(
      z.looseObject({
        way: z.enum(['out', 'in']).describe("of the wallet's"),
        ...tokenNamed,
        token_id: z.string().nullable().describe('of an item'),
        amount: z.string().describe('smallest unit'),
        at_least: z.boolean().describe('more of it may move'),
        party: z.string().describe('who gets it, or gives it'),
        usd: usdThen,
      }),
    ),
    approvals: z
      .array(
        z.looseObject({
          ...tokenNamed,
          token_id: z.string().nullable(),
          spender: z.string(),
          amount: z.string().describe('smallest unit; all: every item of a collection'),
          usd: usdThen,
        }),
      )
      .describe('what others could take of the wallet’s afterwards'),
    left_out: z.int().describe('moves and approvals beyond 16 of each, which are not kept'),
  })
  .describe('what it was to do, as it was known when it was decided')

const signature = z.looseObject({
  of: z
    .enum(['transaction', 'cancellation', 'router_intent', 'delegation'])
    .describe('router_intent: by the wallet, of a call whose gas the service pays'),
  tx_hash: z.string().nullable(),
  intent_id: z.string().nullable().describe("names it in both domains' evidence"),
  identity_provider: z
    .looseObject({
      recorded_at: timestamp.describe('when the service had its approval, and recorded it'),
      signature: z.string().describe('P-256, over the batch of the intent'),
      evidence: z
        .looseObject({
          log: z.enum(['service']),
          chain: z.int(),
          index: z.int(),
          hash: z.string(),
        })
        .describe('the entry that verify-audit and its export have'),
    })
    .nullable()
    .describe("the first key's approval; null where the service's evidence does not have it"),
  quorum_signer: z
    .looseObject({
      signed_at: timestamp
        .nullable()
        .describe('when the service had verified the signature; null: not kept'),
      boot: z.string().nullable().describe('of the quorum signer, for which the approval was good'),
    })
    .describe('the signature is made: nobody else can make it'),
})

export const transactionDetail = transactionRecord.extend({
  status: z
    .enum([...txStatus.options, 'refused'])
    .describe('refused: it became no transaction, and `error` says why in words'),
  data: z.string().describe('of a refused call its first four bytes alone'),
  data_bytes: z.int(),
  sub_wallet_id: z.string(),
  request_id: z.string().describe('of the request that asked for it'),
  gas_limit: z.string().nullable().describe('null of a refused call'),
  valuation,
  simulation,
  attempts: z
    .array(
      z.looseObject({
        tx_hash: z.string(),
        signed_at: timestamp,
        max_fee_per_gas_wei: z.string(),
        max_priority_fee_per_gas_wei: z.string(),
        cancels: z.boolean().describe('sends nothing, to end the transaction'),
      }),
    )
    .describe('each set of signed bytes, oldest first; one that is replaced by a higher fee stays'),
  signatures: z
    .array(signature)
    .describe('both approvals of all that was signed for it, oldest first'),
  timeline: z
    .array(
      z.looseObject({
        step: timelineStep.describe(
          'signed: and stored, in the same moment; replaced: signed again with a higher fee',
        ),
        at: timestamp.nullable().describe('null where only the block is known'),
        tx_hash: z.string().nullable(),
        block_number: z.int().nullable(),
      }),
    )
    .describe('what happened to it, in order'),
  screened_against: z
    .array(z.looseObject({ list: z.string(), version: z.string(), checked_at: timestamp }))
    .nullable()
    .describe(
      'lists that its verdict rests on; none: it was refused before; null where the entry is no longer kept',
    ),
  approvals: z.array(approvalRecord).describe('where its policy asked for approval: that one'),
  events: z
    .array(
      z.looseObject({
        seq: z.int(),
        event_id: z.string(),
        type: eventType,
        timestamp,
        deliveries: z.array(
          deliveryRecord.extend({
            webhook_id: z.string(),
            kind: z.string(),
            url: z.string(),
          }),
        ),
      }),
    )
    .describe('its events that are kept, with what was delivered of each'),
  audit: z.array(auditRecord).describe('its entries of the audit trail, oldest first'),
})
