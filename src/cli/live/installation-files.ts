import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../api/version.js'
import { IDENTITY_LINK_VARIABLE, LINK_LISTENER_VARIABLE } from '../../config/identity-link.js'
import { LOOPBACK_PROXIES, TRUSTED_PROXIES_VARIABLE } from '../../config/trusted-proxies.js'
import type { ChainId } from '../../domain/chains.js'
import { liveChains, rpcVariables } from './chain-templates.js'
import { caddyfile, nginxConfig } from './proxy-samples.js'

/** The choices given to `live init`. */
export interface LiveChoices {
  readonly chains: readonly ChainId[]
  readonly usdcFeeds: ReadonlyMap<number, string>
  /** The addresses of the service and the login: https, or loopback in a trial. */
  readonly serviceUrl: URL
  readonly identityUrl: URL
  /** Ports on loopback, behind the proxy. */
  readonly servicePort: string
  readonly identityPort: string
  /** The home of all data, on the machine that will run it. */
  readonly home: string
  /** True for P-256 keys in files instead of a token or a KMS. */
  readonly fileKeys: boolean
  /** The directory of the package, and the Node that runs it. */
  readonly packageRoot: string
  readonly node: string
}

interface InstallationFile {
  /** The path inside the directory. */
  readonly path: string
  readonly text: string
}

/** The directory from which systemd reads the environments. */
const ENVIRONMENTS = '/etc/countersign'

const UNITS = ['service', 'identity-provider', 'quorum-signer'] as const
type UnitName = (typeof UNITS)[number]

/** Files for a node of a cluster, which other machines do not need. */
const CLUSTER_FILES = [
  'countersign-cluster.sysusers.conf',
  'countersign-identity-provider.journal.conf',
  'countersign-identity-provider.link.conf',
  'countersign-journal-handler.service',
  'countersign-restate.nodes.conf',
  'countersign-restate.service',
  'countersign-service.cluster.conf',
] as const

export function installationFiles(choices: LiveChoices): InstallationFile[] {
  const { serviceUrl, identityUrl, servicePort, identityPort } = choices
  const hosts = {
    serviceHost: serviceUrl.hostname,
    identityHost: identityUrl.hostname,
    servicePort,
    identityPort,
  }
  const file = (path: string, text: string): InstallationFile => ({ path, text })
  return [
    file('chains.json', `${JSON.stringify(liveChains(choices), null, 2)}\n`),
    ...UNITS.map((name) => ({
      path: `environment/${name}.env`,
      text: environmentOf(name, choices),
    })),
    ...UNITS.map((name) =>
      file(`systemd/countersign-${name}.service`, unitOf(`countersign-${name}`, name, choices)),
    ),
    file('systemd/countersign-lists.service', unitOf('countersign-lists', 'service', choices)),
    file('systemd/countersign-lists.timer', atHome('countersign-lists.timer', choices)),
    ...CLUSTER_FILES.map((name) => file(`systemd/cluster/${name}`, programsOf(name, choices))),
    file('systemd/countersign.sysusers.conf', atHome('countersign.sysusers.conf', choices)),
    file('systemd/countersign.tmpfiles.conf', atHome('countersign.tmpfiles.conf', choices)),
    file('proxy/Caddyfile', caddyfile(hosts)),
    file('proxy/nginx.conf', nginxConfig(hosts)),
  ]
}

function environmentOf(name: UnitName, choices: LiveChoices): string {
  const lines = [
    `COUNTERSIGN_HOME=${choices.home}`,
    'COUNTERSIGN_MODE=live',
    ...(choices.fileKeys
      ? [
          '# Keys in files can be copied: a trial, not a token or KMS.',
          'COUNTERSIGN_ALLOW_FILE_KEYS=1',
        ]
      : []),
    ...LINES[name](choices),
  ]
  return `${lines.join('\n')}\n`
}

const LINES: Readonly<Record<UnitName, (choices: LiveChoices) => readonly string[]>> = {
  service: ({ chains, servicePort, serviceUrl, identityUrl, identityPort }) => [
    `PORT=${servicePort}`,
    '# Metrics for Prometheus on this port of loopback; never through the proxy.',
    '#METRICS_PORT=9464',
    `COUNTERSIGN_PUBLIC_HOSTS=${serviceUrl.hostname}`,
    '# The proxy on this machine says who calls. Name those before it as well, if there are any.',
    `${TRUSTED_PROXIES_VARIABLE}=${LOOPBACK_PROXIES}`,
    `IDENTITY_ISSUER=${identityUrl.origin}`,
    `IDENTITY_JWKS_URL=http://127.0.0.1:${identityPort}/jwks`,
    '# On another machine than the identity provider; CLUSTER.md has the contents of the file.',
    `#${IDENTITY_LINK_VARIABLE}=/etc/countersign-link/service.json`,
    '# Nodes: chains.json names these. URLs often hold a secret: keep this file at mode 0600.',
    ...rpcVariables(chains).map((variable) => `${variable}=`),
  ],
  'identity-provider': ({ identityUrl, identityPort, serviceUrl }) => [
    'COUNTERSIGN_SOCKET_GROUP=countersign-identity-socket',
    `IDENTITY_PORT=${identityPort}`,
    '#IDENTITY_METRICS_PORT=9465',
    '# For wallet services on other machines; CLUSTER.md has the contents of the file.',
    `#${LINK_LISTENER_VARIABLE}=/etc/countersign-link/identity.json`,
    ...(identityUrl.protocol === 'https:'
      ? [
          `IDENTITY_PUBLIC_ISSUER=${identityUrl.origin}`,
          `CONSOLE_REDIRECT_URIS=https://${serviceUrl.host}/console/callback`,
        ]
      : []),
  ],
  'quorum-signer': () => ['COUNTERSIGN_SOCKET_GROUP=countersign-quorum-socket'],
}

/** Adapts a unit: the environment from a domain's file, and the programs' paths on this machine. */
function unitOf(unit: string, domain: UnitName, choices: LiveChoices): string {
  return programsOf(`${unit}.service`, choices)
    .replaceAll(/^Environment=.*\n/gm, '')
    .replace(/^ExecStart=/m, `EnvironmentFile=${ENVIRONMENTS}/${domain}.env\nExecStart=`)
}

function programsOf(file: string, choices: LiveChoices): string {
  const { packageRoot, node } = choices
  return atHome(file, choices)
    .replace('/usr/bin/node', node)
    .replaceAll('/opt/countersign/', `${packageRoot}/`)
}

function atHome(file: string, { packageRoot, home }: LiveChoices): string {
  const text = readFileSync(join(packageRoot, 'scripts', 'systemd', file), 'utf8')
  return text.replaceAll('/var/lib/countersign', home)
}

/** An upgrade points this symbolic link at the next version. */
export const PACKAGE_LINK = '/opt/countersign'

/** ProtectHome and PrivateTmp hide these paths from a unit. */
const HIDDEN_FROM_UNITS = /^\/(home|root|run\/user|tmp|var\/tmp)\//

/** Tells what to do about a package or a Node that the units cannot see; empty when they can. */
function elsewhere({ packageRoot, node }: LiveChoices): string {
  const hidden = [packageRoot, node].filter((path) => HIDDEN_FROM_UNITS.test(path))
  if (hidden.length === 0) return ''
  const place = `${PACKAGE_LINK}-${VERSION}`
  return `
0. These units would not start: what is below /home, /root and /tmp is hidden from them, and ${hidden.join(' and ')}
   is there. With a Node for the whole machine, put the package where they find it, and begin again:

   npm install --prefix ${place} countersign@${VERSION}
   ln -sfn ${place}/node_modules/countersign ${PACKAGE_LINK}
   node ${PACKAGE_LINK}/scripts/countersign.mjs live init DIRECTORY
`
}

/** Lists the remaining steps in order, each a command. */
export function nextSteps(choices: LiveChoices, directory: string): string {
  const { home, identityUrl, serviceUrl, chains, fileKeys } = choices
  const run = (user: string, command: string) =>
    `sudo -u ${user} countersign ${command} --home ${home}`
  const exchange = `${home}/run`
  const store = fileKeys ? '' : ' --pkcs11-module LIB --token LABEL --pin-file FILE'
  const provision = (domain: string, user: string) =>
    run(
      user,
      `custody provision --domain ${domain} --root-public ${exchange}/root.pub.pem --enrolment ${exchange}/${domain}.json${store}`,
    )
  const webauthn =
    identityUrl.protocol === 'https:'
      ? ` --webauthn-rp-id ${identityUrl.hostname} --webauthn-origins ${identityUrl.origin}`
      : ''
  const email = 'you@example.com'
  return `# Next steps
${elsewhere(choices)}
1. Fill in what only you know, in ${directory}/environment/service.env:
   ${rpcVariables(chains).join(', ')}.

2. The command, users, directories, files:

   ln -s ${choices.packageRoot}/scripts/countersign.mjs /usr/local/bin/countersign
   systemd-sysusers ${directory}/systemd/countersign.sysusers.conf
   systemd-tmpfiles --create ${directory}/systemd/countersign.tmpfiles.conf
   install -m 0644 ${directory}/chains.json ${home}/chains.json
   install -d -m 0700 ${ENVIRONMENTS}
   install -m 0600 ${directory}/environment/*.env ${ENVIRONMENTS}/
   install -m 0644 ${directory}/systemd/*.service ${directory}/systemd/*.timer /etc/systemd/system/

3. The registry root, on a machine that stays offline; then bring root.pub.pem here:

   countersign custody make-root --to root
   install -m 0644 root/root.pub.pem ${exchange}/root.pub.pem

4. The keys of the three domains, each as its own user:

   ${provision('service', 'countersign-service')}
   ${provision('user', 'countersign-identity')}
   ${provision('quorum', 'countersign-quorum')}

5. The registry: signed where the root is, put in place here, as root:

   countersign custody sign-registry --root root/root.pem --enrolments ${exchange}/service.json ${exchange}/user.json ${exchange}/quorum.json --chains ${home}/chains.json --out registry.json${webauthn}
   countersign custody install-registry registry.json --home ${home}

6. A screening list:

   ${run('countersign-service', 'lists update')}

7. Start, put a proxy in front (${directory}/proxy), and look:

   systemctl enable --now countersign-quorum-signer countersign-identity-provider countersign-service countersign-lists.timer
   countersign doctor --home ${home} --environments ${ENVIRONMENTS}

8. The first user, and as that user the first wallet, key and transaction:

   ${run('countersign-identity', `users create ${email} --p256`)}
   countersign login --url ${serviceUrl.origin} --issuer ${identityUrl.origin}
   countersign authorizer create
   countersign wallets create treasury
   countersign keys create agent --wallet sw_… --permission trade --daily 100 --monthly 1000
   COUNTERSIGN_API_KEY=sk_live_… countersign send --chain ${chains[0] ?? 1} --to 0x… --value 1 --wait

9. A backup, now and every day, of each domain as its own user, into a directory of that user's that is
   outside of the home; without --with-keys it has no private key, so keep copies of those elsewhere:

   ${run('countersign-service', 'backup create --part service config --to DIR')}
   ${run('countersign-identity', 'backup create --part user --to DIR')}
   countersign backup restore --help

10. Sponsored calls (swaps, vaults), when you want them:

   countersign contracts deploy --help

11. Another machine that takes over when this one is lost, when you want one: CLUSTER.md, with the units and
   drop-ins in ${directory}/systemd/cluster.
`
}
