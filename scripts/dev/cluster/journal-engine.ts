import { z } from 'zod'
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

/** @throws Error for a home whose journal is in another engine, in which the nodes would find nothing */
export function refuseOtherEngine(journalFile: string, name: EngineName): void {
  const file = readJsonFile(journalFile, z.record(z.string(), z.unknown()))
  if (file === null || name in file) return
  throw new Error(
    `${journalFile} has a journal in ${Object.keys(file).join()}: say --journal ${Object.keys(file).join()}, or begin anew in another COUNTERSIGN_HOME`,
  )
}
