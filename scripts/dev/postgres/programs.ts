import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { ProcessUser } from '../supervision/supervised-process.js'

/** Postgres refuses to run as root; Debian's package brings a user for it. */
const USER = 'postgres'
/** Debian keeps the server of each version in a folder of its own, outside of PATH. */
const INSTALLED = '/usr/lib/postgresql'

/** The oldest that the journal is tried with. */
const VERSION_MIN = 15

/** What a Postgres of this machine runs by. */
export interface PostgresPrograms {
  /** Null: this process's own user. */
  readonly user: ProcessUser | null
  path(program: string): string
  /** Signals of this process are heard meanwhile. @returns what it prints. @throws Error with what it says */
  run(program: string, args: readonly string[], cwd: string, ends?: AbortSignal): Promise<string>
}

export interface PostgresAddress {
  /** Or the directory of its socket. */
  readonly host: string
  readonly port: number
  readonly user: string
}

/** The newest version of Debian's, or what PATH has. @returns null where there is none */
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

/** @throws Error where this machine has none of that name */
export function userNamed(name: string): ProcessUser {
  const id = (flag: string) =>
    Number(
      execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
    )
  try {
    return { uid: id('-u'), gid: id('-g') }
  } catch (cause) {
    throw new Error(
      `Postgres does not run as root, and there is no user \`${name}\` whom it could run as: make one (useradd --system ${name}), or start this as another user than root`,
      { cause },
    )
  }
}

/**
 * @param said by `postgres --version`
 * @throws Error unless the nodes' journal could be in it
 */
export function refuseOld(said: string): void {
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(said)?.[1])
  if (major >= VERSION_MIN) return
  throw new Error(
    `this needs Postgres from version ${VERSION_MIN} on, and here is \`${said.trim()}\`: put a newer one into PATH`,
  )
}

/** An empty server's data, in whose place nothing is. Whoever reaches the server is let in. */
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

/** What a standby of the server begins with. */
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

/** Where a standby of that name follows it. */
export function followed({ host, port, user }: PostgresAddress, name: string): string {
  const escaped = host.replaceAll(/[\s'\\]/g, '\\$&')
  return `host=${escaped} port=${port} user=${user} application_name=${name}`
}
