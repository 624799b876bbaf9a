"""What the surfaces publish alike: resources, lists, changes, reports, guides and the OpenAPI document."""
