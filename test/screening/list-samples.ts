/** Small lists in their publishers' shapes, made of parts that tests vary. */

export interface Party {
  readonly name: string
  /** Ticker and value of each digital currency feature. */
  readonly accounts: readonly (readonly [ticker: string, value: string])[]
}

/** As of May 2024; the namespace before it was http://www.un.org/sanctions/1.0. */
const ADVANCED_NAMESPACE =
  'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ADVANCED_XML'

const TICKERS = ['XBT', 'ETH', 'USDT', 'TRX', 'BSC'] as const
const FIRST_FEATURE_ID = 9_344

export function advancedHead(namespace = ADVANCED_NAMESPACE): string {
  const types = TICKERS.map(
    (ticker, i) =>
      `<FeatureType ID="${FIRST_FEATURE_ID + i}" FeatureTypeGroupID="1">Digital Currency Address - ${ticker}</FeatureType>`,
  ).join('\n')
  return `<?xml version="1.0" encoding="utf-8"?>
<Sanctions xmlns="${namespace}">
  <DateOfIssue CalendarTypeID="1"><Year>2026</Year><Month>9</Month><Day>3</Day></DateOfIssue>
  <ReferenceValueSets>
    <FeatureTypeValues>
      <FeatureType ID="8" FeatureTypeGroupID="1">Birthdate</FeatureType>
      ${types}
      <FeatureType ID="345" FeatureTypeGroupID="1">Email Address</FeatureType>
    </FeatureTypeValues>
  </ReferenceValueSets>
  <DistinctParties>`
}

export const ADVANCED_TAIL = `
  </DistinctParties>
  <SanctionsEntries />
</Sanctions>
`

export function advancedParty({ name, accounts }: Party, id: number): string {
  const features = accounts
    .map(([ticker, value], i) => {
      const typeId = FIRST_FEATURE_ID + TICKERS.indexOf(ticker as (typeof TICKERS)[number])
      return `<Feature ID="${id * 10 + i}" FeatureTypeID="${typeId}">
        <FeatureVersion ID="${id * 10 + i}" ReliabilityID="1560"><Comment />
          <VersionDetail DetailTypeID="1432">${value}</VersionDetail></FeatureVersion>
        <IdentityReference IdentityID="${id}" IdentityFeatureLinkTypeID="1" /></Feature>`
    })
    .join('\n')
  return `
    <DistinctParty FixedRef="${id}"><Comment />
      <Profile ID="${id}" PartySubTypeID="4">
        <Identity ID="${id}" FixedRef="${id}" Primary="true" False="false">
          <Alias><DocumentedName><DocumentedNamePart><NamePartValue>${name}</NamePartValue></DocumentedNamePart></DocumentedName></Alias>
        </Identity>
        <Feature ID="${id}" FeatureTypeID="345"><FeatureVersion ID="${id}">
          <VersionDetail DetailTypeID="1432">someone@example.com</VersionDetail></FeatureVersion></Feature>
        ${features}
      </Profile>
    </DistinctParty>`
}

export function advanced(parties: readonly Party[], namespace = ADVANCED_NAMESPACE): string {
  return advancedHead(namespace) + parties.map(advancedParty).join('') + ADVANCED_TAIL
}

export function enhanced(parties: readonly Party[]): string {
  const entities = parties.map(({ name, accounts }, id) => {
    const features = accounts.map(
      ([
        ticker,
        value,
      ]) => `<feature id="${id}"><type featureTypeId="345">Digital Currency Address - ${ticker}</type>
        <versionId>7</versionId><value>${value}</value><isPrimary>false</isPrimary></feature>`,
    )
    return `<entity id="${id}"><generalInfo><identityId>${id}</identityId></generalInfo>
      <names><name><translations><translation><formattedFullName>${name}</formattedFullName></translation></translations></name></names>
      <features><feature><type>Website</type><value>example.com</value></feature>${features.join('')}</features></entity>`
  })
  return `<?xml version="1.0"?><sanctionsData xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ENHANCED_XML">
    <publicationInfo><dataAsOf>2026-09-03T10:00:00</dataAsOf></publicationInfo>
    <entities>${entities.join('\n')}</entities></sanctionsData>`
}

export function classic(parties: readonly Party[]): string {
  const entries = parties.map(({ name, accounts }, uid) => {
    const ids = accounts.map(
      ([ticker, value], i) =>
        `<id><uid>${uid}${i}</uid><idType>Digital Currency Address - ${ticker}</idType><idNumber>${value}</idNumber></id>`,
    )
    return `<sdnEntry><uid>${uid}</uid><lastName>${name}</lastName><sdnType>Entity</sdnType>
      <idList><id><uid>9</uid><idType>Passport</idType><idNumber>AB123</idNumber></id>${ids.join('')}</idList></sdnEntry>`
  })
  return `<?xml version="1.0" standalone="yes"?>
    <sdnList xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/XML">
    <publshInformation><Publish_Date>09/03/2026</Publish_Date><Record_Count>2</Record_Count></publshInformation>
    ${entries.join('\n')}</sdnList>`
}

export function ukCsv(otherInformation: string): string {
  return `Report Date: 03-Sep-2026
Last Updated,Unique ID,OFSI Group ID,UN Reference Number,Name 6,Other Information,UK Statement of Reasons
03/09/2026,CYB0041,16001,,SOMEBODY,"${otherInformation}","Involved in
cyber activity"
03/09/2026,CYB0042,16002,,SOMEBODY ELSE,,No account
`
}

export function ukXml(otherInformation: string): string {
  return `<?xml version="1.0" encoding="utf-8"?><Designations><DateGenerated>2026-09-03</DateGenerated>
    <Designation><UniqueID>CYB0041</UniqueID><OFSIGroupID>16001</OFSIGroupID>
    <OtherInformation>${otherInformation}</OtherInformation></Designation></Designations>`
}

export function euXml(remark: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
    <export xmlns="http://eu.europa.ec/fpi/fsd/export" generationDate="2026-09-03T09:00:00.000+02:00" globalFileId="1">
    <sanctionEntity logicalId="13"><remark>${remark}</remark>
    <nameAlias wholeName="Somebody"/><identification number="n/a"><remark>see above</remark></identification></sanctionEntity></export>`
}
