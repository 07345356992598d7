import { z } from 'zod'
import { timestamp } from './primitives.js'

/** What the service knows of itself beyond `/readyz`: of the whole instance, and so in numbers alone. */

const WEI_EXAMPLE = '420000000000000000'

const wholeSeconds = z.int().nullable().describe('age of the oldest; null while there is none')

export const serviceStatus = z.looseObject({
  chains: z.array(
    z.looseObject({
      chain_id: z.int(),
      open_lanes: z.int().describe('wallets and gas wallets with something open there'),
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
          .describe('null until it was read')
          .meta({ examples: [WEI_EXAMPLE] }),
        low_below_wei: z
          .string()
          .nullable()
          .describe('what 200 sponsored calls cost then')
          .meta({ examples: ['3000000000000000'] }),
        low: z
          .boolean()
          .describe('true: top it up; without gas nothing is sponsored on that chain')
          .meta({ examples: [false] }),
        checked_at: timestamp.nullable(),
      }),
    )
    .describe('who pays the gas of sponsored calls'),
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
          .describe('how long something waited there lately')
          .meta({ examples: [3] }),
        dropped: z
          .int()
          .describe('turned away since the start, since it was full')
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
      waiting_events: z.int().describe('taken from the log and not delivered'),
      oldest_seconds: wholeSeconds,
    })
    .describe('of all endpoints'),
  disk: z.looseObject({
    free_bytes: z
      .int()
      .nullable()
      .describe('null while it cannot be looked at')
      .meta({ examples: [52_428_800_000] }),
    floor_bytes: z
      .int()
      .describe('with less, nothing that moves value begins')
      .meta({ examples: [268_435_456] }),
  }),
  last_backup: z
    .looseObject({
      ended_at: timestamp,
      result: z.enum(['whole', 'failed']),
      bytes: z
        .int()
        .nullable()
        .describe('null of a failed one')
        .meta({ examples: [7_340_032] }),
    })
    .nullable()
    .describe('made on this machine by `countersign backup create`; null: none is known'),
  log_level: z.string().meta({ examples: ['info'] }),
})
