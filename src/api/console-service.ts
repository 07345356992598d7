import { z } from 'zod'
import { timestamp } from './primitives.js'

/**
 * The state of the whole instance beyond `/readyz`, as figures only, because every user sees it.
 */

const WEI_EXAMPLE = '420000000000000000'

const wholeSeconds = z
  .int()
  .nullable()
  .describe('age of the oldest in seconds; null if nothing waits')

export const serviceStatus = z.looseObject({
  chains: z.array(
    z.looseObject({
      chain_id: z.int(),
      open_lanes: z.int().describe('wallets and gas wallets with open transactions'),
      open_transactions: z.int().describe('signed and not final'),
      oldest_unconfirmed_seconds: wholeSeconds,
    }),
  ),
  gas_wallets: z
    .array(
      z.looseObject({
        gas_wallet: z.string().meta({ examples: ['8453:0'] }),
        chain_id: z.int(),
        address: z.string(),
        balance_wei: z
          .string()
          .nullable()
          .describe('null before it is read')
          .meta({ examples: [WEI_EXAMPLE] }),
        low_below_wei: z
          .string()
          .nullable()
          .describe('cost of 200 sponsored calls at that time')
          .meta({ examples: ['3000000000000000'] }),
        low: z
          .boolean()
          .describe('true: top it up, or sponsored calls on that chain will stop')
          .meta({ examples: [false] }),
        checked_at: timestamp.nullable(),
      }),
    )
    .describe('accounts that pay the gas of sponsored calls'),
  queues: z
    .array(
      z.looseObject({
        queue: z.string().meta({ examples: ['signing'] }),
        length: z
          .int()
          .describe('what waits')
          .meta({ examples: [0] }),
        wait_ms: z
          .int()
          .describe('recent waiting time')
          .meta({ examples: [3] }),
        dropped: z
          .int()
          .describe('rejected since the start because it was full')
          .meta({ examples: [0] }),
      }),
    )
    .describe('of all threads, as /metrics names them'),
  writes: z
    .looseObject({
      active: z.int(),
      waiting: z.int(),
      active_max: z.int().meta({ examples: [64] }),
      refused: z.int().describe('OVERLOADED, since the start'),
    })
    .describe('calls that move value'),
  webhooks: z
    .looseObject({
      waiting_events: z.int().describe('read from the log and not delivered'),
      oldest_seconds: wholeSeconds,
    })
    .describe('over all endpoints'),
  disk: z.looseObject({
    free_bytes: z
      .int()
      .nullable()
      .describe('null if it cannot be read')
      .meta({ examples: [52_428_800_000] }),
    floor_bytes: z
      .int()
      .describe('with less, no call that moves value begins')
      .meta({ examples: [268_435_456] }),
  }),
  last_backup: z
    .looseObject({
      ended_at: timestamp,
      result: z.enum(['whole', 'failed']),
      bytes: z
        .int()
        .nullable()
        .describe('null if it failed')
        .meta({ examples: [7_340_032] }),
    })
    .nullable()
    .describe('made on this machine by `countersign backup create`; null: none known'),
  log_level: z.string().meta({ examples: ['info'] }),
  readiness: z
    .looseObject({
      status: z.enum(['ready', 'not_ready']),
      draining: z.boolean(),
      parts: z.record(
        z.string(),
        z.looseObject({
          status: z.enum(['up', 'degraded', 'down']),
          reason: z.string().optional().describe('of a part that is not up'),
        }),
      ),
    })
    .describe(
      'as `/readyz`, with the reasons and figures that it shows to nobody without credentials',
    ),
})
