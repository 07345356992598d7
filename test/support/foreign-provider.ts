import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider from 'oidc-provider'
import {
  COMMAND_LINE_CLIENT_ID,
  COMMAND_LINE_REDIRECT_URI,
} from '../../src/identity-provider/login/clients.js'

/**
 * An OIDC provider like one that an operator may already have: it has its own accounts, signs with
 * RS256, and publishes its keys at an address of its choice. It has one user, who is always signed
 * in and consents to everything.
 */
export interface ForeignProvider {
  readonly issuer: string
  readonly jwksUrl: string
  /** The keys that the operator pins. */
  readonly publicKeys: readonly JWK[]
  close(): Promise<void>
}

export async function startForeignProvider(
  accountId: string,
  audience: string,
): Promise<ForeignProvider> {
  const pair = await generateKeyPair('RS256', { extractable: true })
  const named = { kid: 'of-the-operator', alg: 'RS256', use: 'sig' }
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: COMMAND_LINE_CLIENT_ID,
        ...{ application_type: 'native', token_endpoint_auth_method: 'none' },
        redirect_uris: [COMMAND_LINE_REDIRECT_URI],
        ...{ grant_types: ['authorization_code'], response_types: ['code'] },
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(pair.privateKey)), ...named }] },
    routes: { jwks: '/protocol/certs' },
    cookies: { keys: ['of no worth'] },
    scopes: ['openid', 'email', 'console'],
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({ accountId, clientId: COMMAND_LINE_CLIENT_ID })
      grant.addOIDCScope('openid email console')
      grant.addResourceScope(audience, 'console')
      await grant.save()
      return grant
    },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          ...{ scope: 'console', audience, accessTokenFormat: 'jwt', accessTokenTTL: 600 },
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    interactions: { url: () => '/interaction' },
    ttl: {
      AccessToken: 600,
      IdToken: 600,
      AuthorizationCode: 60,
      Interaction: 60,
      Session: 600,
      Grant: 600,
    },
  })
  const mounted = provider.callback()
  server.on('request', (request, response) => {
    if (request.url !== '/interaction') void mounted(request, response)
    else void provider.interactionFinished(request, response, { login: { accountId }, consent: {} })
  })
  return {
    issuer,
    jwksUrl: `${issuer}/protocol/certs`,
    publicKeys: [{ ...(await exportJWK(pair.publicKey)), ...named }],
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
