import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { ProcessUser } from '../supervision/supervised-process.js'

/** Postgres refuses to run as root; Debian's package creates a user for it. */
const USER = 'postgres'
/** Debian keeps each version's server in its own folder, outside PATH. */
const INSTALLED = '/usr/lib/postgresql'

/** The oldest version with which the journal is tested. */
const VERSION_MIN = 15

/** The Postgres programs of this machine. */
export interface PostgresPrograms {
  /** Null for this process's own user. */
  readonly user: ProcessUser | null
  path(program: string): string
  /**
   * Runs a program; signals to this process are handled in between.
   * @returns its output
   * @throws Error with its message
   */
  run(program: string, args: readonly string[], cwd: string, ends?: AbortSignal): Promise<string>
}

export interface PostgresAddress {
  /** A host name, or the directory of its socket. */
  readonly host: string
  readonly port: number
  readonly user: string
}

/**
 * Finds Debian's newest version, or the one in PATH.
 * @returns null without any
 */
export function findPostgres(): PostgresPrograms | null {
  const directory = directoryOfPrograms()
  return directory === null ? null : programsIn(directory, userOfServers())
}

export function programsIn(directory: string, user: ProcessUser | null): PostgresPrograms {
  const path = (program: string) => join(directory, program)
  return {
    user,
    path,
    async run(program, args, cwd, signal) {
      const options = { ...user, cwd, ...(signal === undefined ? {} : { signal }) }
      const { stdout } = await promisify(execFile)(path(program), args, options)
      return stdout
    },
  }
}

function directoryOfPrograms(): string | null {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED).map(Number) : []
  const candidates = [
    ...versions.toSorted((a, b) => b - a).map((version) => join(INSTALLED, String(version), 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  return candidates.find((directory) => existsSync(join(directory, 'postgres'))) ?? null
}

function userOfServers(): ProcessUser | null {
  return process.getuid?.() === 0 ? userNamed(USER) : null
}

/** @throws Error when this machine has no such user */
export function userNamed(name: string): ProcessUser {
  const id = (flag: string) =>
    Number(
      execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
    )
  try {
    return { uid: id('-u'), gid: id('-g') }
  } catch (cause) {
    throw new Error(
      `Postgres does not run as root, and there is no user \`${name}\` to run it: create one (useradd --system ${name}), or start this as a user other than root`,
      { cause },
    )
  }
}

/**
 * @param said the output of `postgres --version`
 * @throws Error unless the nodes' journal can use it
 */
export function refuseOld(said: string): void {
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(said)?.[1])
  if (major >= VERSION_MIN) return
  throw new Error(
    `this needs Postgres from version ${VERSION_MIN} on, and here is \`${said.trim()}\`: put a newer one into PATH`,
  )
}

/** Creates an empty server's data in a new directory. Every local connection is trusted. */
export async function initialise(
  postgres: PostgresPrograms,
  user: string,
  directory: string,
  data: string,
  ends?: AbortSignal,
): Promise<void> {
  const args = ['--pgdata', data, '--username', user, '--auth', 'trust']
  await postgres.run('initdb', [...args, '--encoding', 'UTF8', '--locale', 'C'], directory, ends)
}

/** Copies a server as the start of its standby. */
export async function copyServer(
  postgres: PostgresPrograms,
  { host, port, user }: PostgresAddress,
  directory: string,
  data: string,
  ends?: AbortSignal,
): Promise<void> {
  const args = [
    ...['--host', host, '--port', String(port), '--username', user],
    ...['--pgdata', data, '--write-recovery-conf'],
    ...['--checkpoint', 'fast', '--wal-method', 'stream'],
  ]
  await postgres.run('pg_basebackup', args, directory, ends)
}

/** Returns the address at which a named standby follows the server. */
export function followed({ host, port, user }: PostgresAddress, name: string): string {
  const escaped = host.replaceAll(/[\s'\\]/g, '\\$&')
  return `host=${escaped} port=${port} user=${user} application_name=${name}`
}
