"""What a webserver of Dagster is asked, by its GraphQL.

Queries and fields are those that Dagster documents for everybody
(https://docs.dagster.io/api/graphql).
"""

_METADATA = """
fragment said on MetadataEntry {
  label
  ... on TextMetadataEntry { text }
  ... on UrlMetadataEntry { text: url }
  ... on PathMetadataEntry { text: path }
  ... on TableSchemaMetadataEntry { schema { columns { name description } } }
  ... on TableColumnLineageMetadataEntry {
    lineage { columnName columnDeps { assetKey { path } columnName } }
  }
}
"""

ASSETS = (
    """
query Assets($cursor: String, $limit: Int) {
  assetsOrError(cursor: $cursor, limit: $limit) {
    ... on AssetConnection {
      cursor
      nodes {
        key { path }
        definition {
          description
          owners { ... on UserAssetOwner { email } ... on TeamAssetOwner { team } }
          tags { key value }
          kinds
          dependencyKeys { path }
          metadataEntries { ...said }
        }
      }
    }
    ... on PythonError { message }
  }
}
"""
    + _METADATA
)
"""All assets, a page at a time, as their definitions describe them."""

EVENTS = (
    """
query Events($keys: [AssetKeyInput!]) {
  assetNodes(assetKeys: $keys) {
    assetKey { path }
    assetMaterializations(limit: 1) { metadataEntries { ...said } }
  }
}
"""
    + _METADATA
)
"""What the last materialization of some assets says: columns, and where they come from."""
