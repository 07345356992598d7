import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { partitionOfSecret } from '../../../src/domain/cells.js'
import { PARTITION_COUNT } from '../../../src/domain/partition.js'
import type { BegunInstance } from '../begin-instance.js'
import { readJsonFile } from '../home/json-file.js'
import { requirePostgres, startJournalServers } from '../postgres/journal-servers.js'
import { findPostgres } from '../postgres/programs.js'
import { requireRestate, startJournalNodes } from '../restate/journal-nodes.js'

/** The engines of a cluster's journal on this machine. */
export const ENGINES = ['postgres', 'restate'] as const
export type EngineName = (typeof ENGINES)[number]

/** Starts the engine, and writes the file that services use to find it. */
export type StartEngine = (begun: BegunInstance, journalFile: string) => Promise<void>

/** Descriptions for people. */
export const ENGINE_WORDS: Readonly<Record<EngineName, string>> = {
  postgres: 'Postgres and two standbys of it: a commit is on two of the three before it counts',
  restate: 'three nodes of Restate: a commit is on two of them before it counts',
}

/** @throws Error that tells how to install what the engine needs */
export async function requireEngine(name: EngineName): Promise<StartEngine> {
  if (name === 'postgres') {
    const postgres = await requirePostgres()
    return (begun, journalFile) => startJournalServers(begun, postgres, journalFile)
  }
  const restate = await requireRestate()
  return (begun, journalFile) => startJournalNodes(begun, restate, journalFile)
}

/**
 * Starts the engine of the identity provider's own journal, in servers that the wallet services
 * cannot reach.
 */
export async function startIdentityEngine(begun: BegunInstance, file: string): Promise<boolean> {
  if (findPostgres() === null) return false
  const servers = { directory: 'identity-postgres', name: 'identity Postgres' }
  await startJournalServers(begun, await requirePostgres(), file, servers)
  return true
}

const journalFileText = z.record(z.string(), z.unknown())
const OWNER_ALONE = 0o600

/**
 * Returns each cell's journal file, which also assigns partitions of users to cells in turn.
 * @param journalFile the file that the engine wrote, used unchanged for a single cell
 */
export function cellFiles(journalFile: string, count: number): readonly string[] {
  if (count === 1) return [journalFile]
  const engine = readJsonFile(journalFile, journalFileText)
  const partitions = Array.from({ length: PARTITION_COUNT }, (_, partition) => partition)
  const cells = Array.from({ length: count }, (_, cell) =>
    partitions.filter((partition) => partition % count === cell).join(),
  )
  return cells.map((_, cell) => {
    const path = journalFile.replace(/\.json$/, `-${cell}.json`)
    writeFileSync(path, `${JSON.stringify({ ...engine, cells, cell })}\n`, { mode: OWNER_ALONE })
    return path
  })
}

/** Returns the cell of a key's user. */
export function cellOfSecret(secret: string, count: number): number {
  return partitionOfSecret(secret) % count
}

/**
 * @throws Error for a home whose journal uses another engine, where the nodes would find nothing
 */
export function refuseOtherEngine(journalFile: string, name: EngineName): void {
  const file = readJsonFile(journalFile, journalFileText)
  if (file === null || name in file) return
  throw new Error(
    `${journalFile} has a journal in ${Object.keys(file).join()}: pass --journal ${Object.keys(file).join()}, or start over in another COUNTERSIGN_HOME`,
  )
}
