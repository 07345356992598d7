import { z } from 'zod'
import { PREDICTION_BASES } from '../domain/predicted-outcome.js'
import { approvalRecord } from './approvals.js'
import { auditRecord } from './console-records.js'
import { deliveryRecord, eventType } from './console-webhooks.js'
import { timestamp, txId } from './primitives.js'
import { transactionRecord, txStatus } from './transaction.js'

/** One transaction, or a refused call, with everything known about it, for a person. */

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
    .describe("from the operator's chains.json, or the market's for vault shares; null: unknown"),
  decimals: z.int().nullable(),
}

const usdThen = z.string().nullable().describe('rounded up, as of the decision; null: no price')

const valuation = z
  .looseObject({
    value_usd: z.string().describe('what the call itself moves out'),
    gas_usd: z.string().nullable().describe('worst-case gas; null if the service pays'),
    native_price_usd: z
      .string()
      .nullable()
      .describe('price of one native coin, also used to settle gas; null: not stored'),
    reserved_usd: z
      .string()
      .nullable()
      .describe('USD counted towards the caps; null: it was refused'),
    prices: z
      .array(z.looseObject({ ...tokenNamed, usd: z.string().describe('price of one whole unit') }))
      .describe('prices at which it was valued, as far as stored'),
  })
  .nullable()
  .describe('how its spend was valued at the decision; null: refused before that')

const simulation = z
  .looseObject({
    basis: z
      .enum([...PREDICTION_BASES, 'none'])
      .describe(
        'run: simulated by a node; words: a plain transfer, read from its calldata; terms: a Router intent, by its terms; none: see `note`',
      ),
    note: z.string().describe('the basis as text, or why nothing is known'),
    gas_used: z.string().nullable().describe('gas of the simulation'),
    moves: z.array(
      z.looseObject({
        way: z.enum(['out', 'in']).describe('direction, as seen from the wallet'),
        ...tokenNamed,
        token_id: z.string().nullable().describe('id of an item'),
        amount: z.string().describe('smallest unit'),
        at_least: z.boolean().describe('true: more may move'),
        party: z.string().describe('the recipient or sender'),
        usd: usdThen,
      }),
    ),
    approvals: z
      .array(
        z.looseObject({
          ...tokenNamed,
          token_id: z.string().nullable(),
          spender: z.string(),
          amount: z.string().describe('smallest units; all: every item of a collection'),
          usd: usdThen,
        }),
      )
      .describe('allowances that it leaves in force'),
    left_out: z.int().describe('moves and allowances beyond 16 of each, which are not stored'),
  })
  .describe('predicted outcome as of the decision')

const signature = z.looseObject({
  of: z
    .enum(['transaction', 'cancellation', 'router_intent', 'delegation'])
    .describe('router_intent: signed by the wallet for a sponsored call'),
  tx_hash: z.string().nullable(),
  intent_id: z.string().nullable().describe("its id in both domains' evidence"),
  identity_provider: z
    .looseObject({
      recorded_at: timestamp.describe('when the service recorded its approval'),
      signature: z.string().describe('P-256 signature over the batch of the intent'),
      evidence: z
        .looseObject({
          log: z.enum(['service']),
          chain: z.int(),
          index: z.int(),
          hash: z.string(),
        })
        .describe('its entry in verify-audit and its export'),
    })
    .nullable()
    .describe("the first key's approval; null if the service's evidence lacks it"),
  quorum_signer: z
    .looseObject({
      signed_at: timestamp
        .nullable()
        .describe('when the service verified the signature; null: not stored'),
      boot: z
        .string()
        .nullable()
        .describe('start of the quorum signer for which the approval was valid'),
    })
    .describe('the quorum signer made the signature, which nobody else can'),
})

export const transactionDetail = transactionRecord.extend({
  status: z
    .enum([...txStatus.options, 'refused'])
    .describe('refused: no transaction was made, see `error`'),
  data: z.string().describe('only the first four bytes for a refused call'),
  data_bytes: z.int(),
  sub_wallet_id: z.string(),
  request_id: z.string().describe('id of the request that made it'),
  gas_limit: z.string().nullable().describe('null for a refused call'),
  valuation,
  simulation,
  attempts: z
    .array(
      z.looseObject({
        tx_hash: z.string(),
        signed_at: timestamp,
        max_fee_per_gas_wei: z.string(),
        max_priority_fee_per_gas_wei: z.string(),
        cancels: z.boolean().describe('true: sends nothing, to cancel the transaction'),
      }),
    )
    .describe('each set of signed bytes, oldest first, including replaced ones'),
  signatures: z
    .array(signature)
    .describe('both approvals of everything signed for it, oldest first'),
  timeline: z
    .array(
      z.looseObject({
        step: timelineStep.describe(
          'signed: signed and stored; replaced: signed again with a higher fee',
        ),
        at: timestamp.nullable().describe('null if only the block is known'),
        tx_hash: z.string().nullable(),
        block_number: z.int().nullable(),
      }),
    )
    .describe('what happened to it, in order'),
  screened_against: z
    .array(z.looseObject({ list: z.string(), version: z.string(), checked_at: timestamp }))
    .nullable()
    .describe('lists it was compared with; empty: refused before; null: no longer stored'),
  approvals: z.array(approvalRecord).describe('its approval, if its policy required one'),
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
    .describe('its stored events with their deliveries'),
  audit: z.array(auditRecord).describe('its entries of the audit trail, oldest first'),
})
