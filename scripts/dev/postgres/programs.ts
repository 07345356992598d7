import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { ProcessUser } from '../supervision/supervised-process.js'

/** Postgres refuses to run as root; Debian's package brings a user for it. */
const USER = 'postgres'
/** Debian keeps the server of each version in a folder of its own, outside of PATH. */
const INSTALLED = '/usr/lib/postgresql'

/** What a Postgres of this machine runs by. */
export interface PostgresPrograms {
  /** Null: this process's own user. */
  readonly user: ProcessUser | null
  path(program: string): string
  /** @returns what it prints. @throws Error with what it says */
  run(program: string, args: readonly string[], cwd: string): string
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
  if (directory === null) return null
  const user = userOfServers()
  const path = (program: string) => join(directory, program)
  return {
    user,
    path,
    run: (program, args, cwd) =>
      execFileSync(path(program), args, {
        ...user,
        cwd,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
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
  if (process.getuid?.() !== 0) return null
  const id = (flag: string) => Number(execFileSync('id', [flag, USER], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** An empty server's data, in whose place nothing is. Whoever reaches the server is let in. */
export function initialise(
  postgres: PostgresPrograms,
  user: string,
  directory: string,
  data: string,
): void {
  const args = ['--pgdata', data, '--username', user, '--auth', 'trust']
  postgres.run('initdb', [...args, '--encoding', 'UTF8', '--locale', 'C'], directory)
}

/** What a standby of the server begins with. */
export function copyServer(
  postgres: PostgresPrograms,
  { host, port, user }: PostgresAddress,
  directory: string,
  data: string,
): void {
  const args = [
    ...['--host', host, '--port', String(port), '--username', user],
    ...['--pgdata', data, '--write-recovery-conf'],
    ...['--checkpoint', 'fast', '--wal-method', 'stream'],
  ]
  postgres.run('pg_basebackup', args, directory)
}

/** Where a standby of that name follows it. */
export function followed({ host, port, user }: PostgresAddress, name: string): string {
  const escaped = host.replaceAll(/[\s'\\]/g, '\\$&')
  return `host=${escaped} port=${port} user=${user} application_name=${name}`
}
