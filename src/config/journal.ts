import { z } from 'zod'
import {
  ALL_PARTITIONS,
  CELLS_MAX,
  type Cells,
  ONE_CELL,
  parsePartitions,
} from '../domain/cells.js'
import { readJsonFile } from './json-file.js'

/**
 * The engine of the journal that receives commits before the store. It has its own file, named by
 * `COUNTERSIGN_JOURNAL_FILE`, because it contains passwords; without the file there is no journal.
 */
export type JournalSettings = z.infer<typeof journalFile>

const SERVERS_MAX = 8
const OPTIONS = /[?&]options=/
const LOOPBACK = /^(127\.|::1$)/

/**
 * `countersign cluster handler` on each machine with a Restate node, which must be its only client.
 */
const handler = z
  .strictObject({
    host: z.ipv4().or(z.ipv6()).default('127.0.0.1'),
    port: z.int().min(1).max(65_535).default(9_080),
    /** In the form that Restate prints at its start. */
    identity_keys: z
      .array(
        z
          .string()
          .max(128)
          .regex(/^publickeyv1_\w+$/, 'begins with publickeyv1_'),
      )
      .max(SERVERS_MAX)
      .default([]),
  })
  .refine(
    ({ host, identity_keys }) => LOOPBACK.test(host) || identity_keys.length > 0,
    'names identity_keys of the cluster where it listens beyond this machine',
  )

/** A Restate cluster, and the handler on this machine. */
const restate = z.strictObject({
  /** The ingresses of all nodes; each of them answers for all. */
  ingresses: z
    .array(
      z
        .string()
        .max(4_096)
        .regex(/^https?:\/\/[^/@?#]+\/?$/, 'is http:// or https://, a host and a port'),
    )
    .min(1)
    .max(SERVERS_MAX),
  /** The name by which services and handlers of one journal recognise each other. */
  key: z.string().regex(/^[0-9a-f]{64}$/, 'is 32 random bytes in hex'),
  handler: handler.prefault({}),
})

const journalFile = z
  .strictObject({
    /** Servers, of which one accepts writes at a time. */
    postgres: z
      .array(
        z
          .string()
          .max(4_096)
          .regex(/^postgres(ql)?:\/\/./, 'begins with postgres://')
          // Such options would override the journal's own, by which a commit waits for the disk.
          .refine((url) => !OPTIONS.test(url), 'names a server, and no options of its sessions'),
      )
      .min(1)
      .max(SERVERS_MAX)
      .optional(),
    restate: restate.optional(),
    /** The partitions of users in each cell, the same on all nodes; by default one cell has all. */
    cells: z
      .array(
        z
          .string()
          .max(128)
          .refine((text) => parsePartitions(text) !== null, 'lists partitions, as 0-11 or 0,2,4'),
      )
      .min(1)
      .max(CELLS_MAX)
      .optional(),
    /** The index of this node's cell, from 0. */
    cell: z
      .int()
      .min(0)
      .max(CELLS_MAX - 1)
      .optional(),
  })
  .refine(
    (file) => (file.postgres === undefined) !== (file.restate === undefined),
    'names one engine: postgres, or restate',
  )
  .refine(({ cells }) => cells === undefined || isDealtOut(cells), {
    path: ['cells'],
    error: 'have each partition from 0 to 23 once',
  })
  .refine(({ cells, cell }) => (cells === undefined ? cell === undefined : has(cells, cell)), {
    path: ['cell'],
    error: 'is one of cells, counted from 0',
  })

function isDealtOut(cells: readonly string[]): boolean {
  const parts = cells.map((text) => parsePartitions(text) ?? 0)
  const sum = parts.reduce((all, each) => all + each, 0)
  return sum === ALL_PARTITIONS && parts.reduce((all, each) => all | each, 0) === ALL_PARTITIONS
}

function has(cells: readonly string[], cell: number | undefined): boolean {
  return cell !== undefined && cell < cells.length
}

export function cellsOf({ cells, cell = 0 }: Pick<JournalSettings, 'cells' | 'cell'>): Cells {
  const all = (cells ?? []).map((text, number) => ({
    number,
    partitions: parsePartitions(text) ?? 0,
  }))
  const own = all[cell] ?? ONE_CELL
  return { own, all: all.length === 0 ? [own] : all }
}

/** @throws as `readJsonFile` */
export function readJournalFile(path: string): JournalSettings {
  return readJsonFile(path, journalFile)
}
