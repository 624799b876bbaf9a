"""What the APIs share: resources, lists, changes, reports, guides and the OpenAPI document."""
