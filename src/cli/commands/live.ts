import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { CHAIN_COUNT, CHAIN_IDS, type ChainId, isChainId } from '../../domain/chains.js'
import { type GlobalOptions, packageRoot } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import {
  installationFiles,
  type LiveChoices,
  nextSteps,
  PACKAGE_LINK,
} from '../live/installation-files.js'
import { chainListOption, listOption } from '../options.js'
import { printRecord } from '../print.js'

/** Creates a live installation. It writes into one directory and changes nothing else. */

interface InitFlags extends GlobalOptions {
  readonly serviceUrl?: string
  readonly identityUrl?: string
  readonly chains?: number[]
  readonly usdcFeeds?: string[]
  readonly servicePort: string
  readonly identityPort: string
  readonly data: string
  readonly fileKeys?: true
}

const STEPS_FILE = 'NEXT-STEPS.md'

export function register(program: Command, io: Io): void {
  program
    .command('live')
    .description('set up a live installation')
    .command('init')
    .description('write its files into a new directory; asks for missing flags')
    .argument('<directory>')
    .option('--service-url <url>', 'https address of the service, behind your proxy')
    .option('--identity-url <url>', 'https address of the login')
    .option(
      '--chains <ids>',
      `chain ids or names, comma-separated (default: all ${CHAIN_COUNT})`,
      chainListOption,
    )
    .option(
      '--usdc-feeds <id=address,…>',
      "USDC / USD feeds to use instead of Chainlink's",
      listOption,
    )
    .option('--service-port <port>', 'port of the service on loopback', '8080')
    .option('--identity-port <port>', 'port of the login on loopback', '3100')
    .option('--data <directory>', 'home directory on that machine', '/var/lib/countersign')
    .option('--file-keys', 'keys in files instead of a PKCS#11 token or KMS: for a trial')
    .action(async (directory: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<InitFlags>()
      const target = resolve(directory)
      if (existsSync(target) && readdirSync(target).length > 0) {
        throw new UsageError(
          `${target} is not empty: name an empty directory, because nothing is overwritten`,
        )
      }
      const choices = await choicesOf(io, options)
      const steps = nextSteps(choices, target)
      const files = installationFiles(choices)
      for (const { path, text } of [...files, { path: STEPS_FILE, text: steps }]) {
        const at = join(target, path)
        mkdirSync(dirname(at), { recursive: true })
        // Environment files will hold secrets; files that others may read are installed with their
        // own mode.
        writeFileSync(at, text, { mode: 0o600, flag: 'wx' })
      }
      printRecord(io, options, {
        directory: target,
        files: files.length,
        next: join(target, STEPS_FILE),
      })
      io.err(`\n${steps}`)
    })
}

async function choicesOf(io: Io, options: InitFlags): Promise<LiveChoices> {
  const chains = chainsOf(options.chains)
  const serviceUrl = await urlOf(
    io,
    'service-url',
    options.serviceUrl,
    'https://wallet.example.com',
  )
  const identityUrl = await urlOf(io, 'identity-url', options.identityUrl, 'https://id.example.com')
  const [servicePort, identityPort] = [portOf(options.servicePort), portOf(options.identityPort)]
  if (servicePort === identityPort) {
    throw new UsageError('the service and the login cannot share that port: give two')
  }
  return {
    chains,
    serviceUrl,
    identityUrl,
    usdcFeeds: feedsOf(options.usdcFeeds ?? []),
    ...{ servicePort, identityPort },
    fileKeys: options.fileKeys === true,
    home: plain(resolve(options.data)),
    packageRoot: plain(linkedRoot(packageRoot())),
    node: plain(process.execPath),
  }
}

/**
 * Uses the symbolic link to the package if it leads there, so that units follow it to the next
 * version.
 */
function linkedRoot(root: string): string {
  const isLinked = existsSync(PACKAGE_LINK) && realpathSync(PACKAGE_LINK) === realpathSync(root)
  return isLinked ? PACKAGE_LINK : root
}

/** A space ends a path in units and systemd-tmpfiles lines, and `%` has a special meaning. */
function plain(path: string): string {
  if (/^[\w./@+-]+$/.test(path)) return path
  throw new UsageError(
    `${path} has characters with a special meaning for systemd: give a plain path`,
  )
}

function chainsOf(ids: readonly number[] | undefined): readonly ChainId[] {
  if (ids === undefined) return CHAIN_IDS
  const strange = ids.find((id) => !isChainId(id))
  if (strange !== undefined)
    throw new UsageError(`${strange} is not one of the ${CHAIN_COUNT} chains`)
  return CHAIN_IDS.filter((id) => ids.includes(id))
}

/** @throws UsageError unless it is https, or loopback in a trial */
async function urlOf(
  io: Io,
  flag: string,
  given: string | undefined,
  example: string,
): Promise<URL> {
  const text = given ?? (await io.ask?.(`--${flag}, such as ${example}: `))
  if (text === undefined || text === '') throw new UsageError(`pass --${flag}, such as ${example}`)
  const url = URL.parse(text)
  const isLoopback = url?.hostname === '127.0.0.1' || url?.hostname === 'localhost'
  if (url === null || (url.protocol !== 'https:' && !isLoopback) || url.pathname !== '/') {
    throw new UsageError(`--${flag} must be an https origin, such as ${example}`)
  }
  return url
}

function feedsOf(given: readonly string[]): ReadonlyMap<number, string> {
  const feeds = new Map<number, string>()
  for (const pair of given) {
    const [, id, address] = /^(\d+)=(0x[0-9a-fA-F]{40})$/.exec(pair) ?? []
    if (id === undefined || address === undefined) {
      throw new UsageError(`${pair} is not a chain id, an equals sign and an address`)
    }
    feeds.set(Number(id), address)
  }
  return feeds
}

function portOf(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return text
  throw new UsageError(`${text} is not a port number`)
}
