import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { partitionOfSecret } from '../../../src/domain/cells.js'
import { PARTITION_COUNT } from '../../../src/domain/partition.js'
import type { BegunInstance } from '../begin-instance.js'
import { readJsonFile } from '../home/json-file.js'
import { requirePostgres, startJournalServers } from '../postgres/journal-servers.js'
import { findPostgres } from '../postgres/programs.js'
import { requireRestate, startJournalNodes } from '../restate/journal-nodes.js'

/** What the journal of a cluster can be in, on this machine. */
export const ENGINES = ['postgres', 'restate'] as const
export type EngineName = (typeof ENGINES)[number]

/** Starts the engine, and writes the file by which services find it. */
export type StartEngine = (begun: BegunInstance, journalFile: string) => Promise<void>

/** For people. */
export const ENGINE_WORDS: Readonly<Record<EngineName, string>> = {
  postgres: 'Postgres and a synchronous standby of it: a commit is on both before it counts',
  restate: 'three nodes of Restate: a commit is on two of them before it counts',
}

/** @throws Error that says how to get what the engine needs, where it is not here */
export async function requireEngine(name: EngineName): Promise<StartEngine> {
  if (name === 'postgres') {
    const postgres = await requirePostgres()
    return (begun, journalFile) => startJournalServers(begun, postgres, journalFile)
  }
  const restate = await requireRestate()
  return (begun, journalFile) => startJournalNodes(begun, restate, journalFile)
}

/** Of the identity provider's own journal: in servers that the wallet services have no way to. */
export async function startIdentityEngine(begun: BegunInstance, file: string): Promise<boolean> {
  if (findPostgres() === null) return false
  const servers = { directory: 'identity-postgres', name: 'identity Postgres' }
  await startJournalServers(begun, await requirePostgres(), file, servers)
  return true
}

const journalFileText = z.record(z.string(), z.unknown())
const OWNER_ALONE = 0o600

/**
 * The file of each cell, which says besides who has which users: partitions of theirs by turns.
 * @param journalFile as the engine has written it, which is that of the one cell where there is one
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

/** Whose user's key it is. */
export function cellOfSecret(secret: string, count: number): number {
  return partitionOfSecret(secret) % count
}

/** @throws Error for a home whose journal is in another engine, in which the nodes would find nothing */
export function refuseOtherEngine(journalFile: string, name: EngineName): void {
  const file = readJsonFile(journalFile, journalFileText)
  if (file === null || name in file) return
  throw new Error(
    `${journalFile} has a journal in ${Object.keys(file).join()}: say --journal ${Object.keys(file).join()}, or begin anew in another COUNTERSIGN_HOME`,
  )
}
